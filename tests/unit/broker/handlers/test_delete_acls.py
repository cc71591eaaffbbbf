"""DeleteAcls: rules that filters mean are removed, and told once."""

from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from moldau.security.acls import Acl, AclFilter, AclPattern, Operation, Permission, ResourceType
from unit.broker.access_world import ROOT, access_world, acl, store_of
from unit.broker.world import World

T = AclPattern(ResourceType.TOPIC, "t")
READ = acl(Operation.READ, *T[:2])
WRITE = acl(Operation.WRITE, *T[:2])
DENIAL = acl(Operation.READ, *T[:2], principal="User:bob", permission=Permission.DENY)


def meaning(**parts: Any) -> DeleteAclsFilter:
    given = {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": 1,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
        **parts,
    }
    return DeleteAclsFilter(**given)


async def deleted(world: World, *filters: DeleteAclsFilter) -> list[tuple[int, list[int]]]:
    response = await world.ask(DeleteAclsRequest(filters=list(filters)), 3, client=ROOT)
    return [
        (one.error_code, [each.operation for each in one.matching_acls])
        for one in response.filter_results
    ]


def left(world: World) -> list[Acl]:
    return list(store_of(world).rules.matching(AclFilter()))


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_every_filter_is_refused(world: World, version: int) -> None:
    wanted = DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    response = await world.ask(DeleteAclsRequest(filters=[wanted] * 2), version)
    codes = [(one.error_code, one.matching_acls) for one in response.filter_results]
    assert codes == [(ErrorCode.SECURITY_DISABLED, [])] * 2


async def test_cve_2024_27309_one_of_three_is_removed_and_the_others_hold() -> None:
    """CVE-2024-27309."""
    async with access_world() as world:
        await store_of(world).add(T, [READ, WRITE, DENIAL])
        assert await deleted(world, meaning(operation=4)) == [(0, [Operation.WRITE])]
        assert left(world) == [READ, DENIAL]
        assert b"Deny" in (await world.tree.get("/kafka-acl/Topic/t")).data


async def test_a_rule_that_two_filters_mean_is_told_with_the_first() -> None:
    async with access_world() as world:
        await store_of(world).add(T, [READ, WRITE])
        found = await deleted(world, meaning(operation=3), meaning(), meaning())
        assert found == [(0, [Operation.READ]), (0, [Operation.WRITE]), (0, [])]
        assert left(world) == []
        assert await world.tree.exists("/kafka-acl/Topic/t") is None


async def test_a_filter_that_is_not_understood_does_not_keep_others_from_their_work() -> None:
    async with access_world() as world:
        await store_of(world).add(T, [READ])
        found = await deleted(world, meaning(operation=0), meaning(operation=3))
        assert found == [(ErrorCode.INVALID_REQUEST, []), (0, [Operation.READ])]
