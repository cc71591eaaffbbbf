"""CreateAcls: rules are checked one by one, kept in the tree, and hold at once."""

from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from moldau.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.security.acls import Acl, AclFilter, Operation, PatternType, ResourceType
from unit.broker.access_world import ROOT, access_world, acl, client, store_of
from unit.broker.world import World


def creation(name: str = "t", **others: Any) -> AclCreation:
    given = {
        "resource_type": 2,
        "resource_name": name,
        "resource_pattern_type": 3,
        "principal": "User:alice",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
        **others,
    }
    return AclCreation(**given)


async def created(world: World, *creations: AclCreation) -> list[tuple[int, str | None]]:
    response = await world.ask(CreateAclsRequest(creations=list(creations)), 3, client=ROOT)
    return [(one.error_code, one.error_message) for one in response.results]


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_every_rule_is_refused(world: World, version: int) -> None:
    creation = AclCreation(
        resource_type=2,
        resource_name="t",
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    response = await world.ask(CreateAclsRequest(creations=[creation] * 2), version)
    assert [one.error_code for one in response.results] == [ErrorCode.SECURITY_DISABLED] * 2


@pytest.mark.parametrize("version", range(4))
async def test_a_rule_is_kept_in_the_tree_and_holds_at_once(version: int) -> None:
    alice = client("alice")
    asked = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
            )
        ],
    )
    async with access_world() as world:
        await world.create_topic("t")
        (topic,) = (await world.ask(asked, 5, client=alice)).topics
        assert topic.partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        request = CreateAclsRequest(creations=[creation()])
        response = await world.ask(request, version, client=ROOT)
        assert [one.error_code for one in response.results] == [ErrorCode.NONE]
        assert b"User:alice" in (await world.tree.get("/kafka-acl/Topic/t")).data
        (topic,) = (await world.ask(asked, 5, client=alice)).topics
        assert topic.partitions[0].error_code == ErrorCode.NONE


async def test_rules_of_one_pattern_are_written_together_and_known_ones_stay() -> None:
    async with access_world() as world:
        rules = [creation(), creation(operation=4), creation()]
        assert await created(world, *rules) == [(0, None)] * 3
        assert await created(world, *rules) == [(0, None)] * 3
        found = list(store_of(world).rules.matching(AclFilter()))
        topic = ResourceType.TOPIC
        assert found == [acl(Operation.READ, topic, "t"), acl(Operation.WRITE, topic, "t")]
        assert len(await world.tree.children("/kafka-acl-changes")) == 1


INVALID = ErrorCode.INVALID_REQUEST
FAILED = (INVALID, "Failed to create ACL")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            creation("x", resource_type=4),
            (INVALID, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ),
        (creation(""), (INVALID, "Invalid empty resource name")),
        *((creation(resource_type=kind), FAILED) for kind in (0, 1)),
        *((creation(resource_pattern_type=kind), FAILED) for kind in (0, 1, 2, 9)),
        *((creation(operation=number), FAILED) for number in (0, 1, 99)),
        *((creation(permission_type=number), FAILED) for number in (0, 1, 99)),
        *((creation(name), FAILED) for name in ("a/b", ".", "..", "a\0b", "a\nb", "\ufff1")),
        (creation(principal="alice"), FAILED),
        (creation(host=""), FAILED),
    ],
)
async def test_what_is_wrong_with_one_rule_does_not_keep_others_out(
    wrong: AclCreation, told: tuple[int, str]
) -> None:
    async with access_world() as world:
        assert await created(world, wrong, creation()) == [told, (0, None)]
        rules: list[Acl] = list(store_of(world).rules.matching(AclFilter()))
        assert [one.resource_name for one in rules] == ["t"]


async def test_a_host_that_fits_nobody_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async with access_world() as world:
        prefix = int(PatternType.PREFIXED)
        await created(world, creation(host="10.0.0.0/8", resource_pattern_type=prefix))
        assert "host '10.0.0.0/8' is not an address" in caplog.text
        await created(world, creation("u", host="::1"))
        assert caplog.text.count("is not an address") == 1
