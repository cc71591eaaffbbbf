"""DescribeAcls: the rules that a filter means, by pattern."""

from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_acls import DescribeAclsRequest
from moldau.security.acls import Operation, PatternType, Permission, ResourceType
from unit.broker.access_world import ROOT, access_world, acl, prefixed, set_rules
from unit.broker.world import World

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
RULES = [
    acl(Operation.READ, TOPIC, "t"),
    acl(Operation.READ, TOPIC, "t", principal="User:*", permission=Permission.DENY, host="::1"),
    acl(Operation.WRITE, TOPIC, "*"),
    prefixed(Operation.ALL, TOPIC, "t"),
    prefixed(Operation.READ, GROUP, "t"),
]


def wanted(**parts: Any) -> DescribeAclsRequest:
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
    return DescribeAclsRequest(**given)


@pytest.mark.parametrize("version", range(4))
async def test_without_an_authoriser_security_is_off(world: World, version: int) -> None:
    request = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    response = await world.ask(request, version)
    assert (response.error_code, response.resources) == (ErrorCode.SECURITY_DISABLED, [])
    assert response.error_message == "No Authorizer is configured on the broker"


async def test_rules_are_shown_by_pattern() -> None:
    async with access_world() as world:
        set_rules(world, RULES)
        response = await world.ask(wanted(), 3, client=ROOT)
        assert response.error_code == ErrorCode.NONE
        assert [
            (one.resource_type, one.resource_name, one.pattern_type, len(one.acls))
            for one in response.resources
        ] == [
            (TOPIC, "t", PatternType.LITERAL, 2),
            (TOPIC, "*", PatternType.LITERAL, 1),
            (TOPIC, "t", PatternType.PREFIXED, 1),
            (GROUP, "t", PatternType.PREFIXED, 1),
        ]
        denial = response.resources[0].acls[1]
        assert (denial.principal, denial.host) == ("User:*", "::1")
        assert (denial.operation, denial.permission_type) == (Operation.READ, Permission.DENY)


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ({"resource_type_filter": 3}, 1),
        ({"pattern_type_filter": 3}, 3),
        ({"pattern_type_filter": 2, "resource_name_filter": "tt", "resource_type_filter": 2}, 2),
        ({"pattern_type_filter": 1, "resource_name_filter": "t"}, 4),
        ({"principal_filter": "User:*"}, 1),
        ({"host_filter": "*"}, 4),
        ({"operation": 3}, 3),
        ({"permission_type": 2}, 1),
    ],
)
async def test_a_filter_says_which(parts: dict[str, Any], count: int) -> None:
    async with access_world() as world:
        set_rules(world, RULES)
        response = await world.ask(wanted(**parts), 3, client=ROOT)
        assert sum(len(one.acls) for one in response.resources) == count


async def test_the_oldest_version_knows_literal_names_only() -> None:
    async with access_world() as world:
        set_rules(world, RULES)
        response = await world.ask(wanted(pattern_type_filter=3), 0, client=ROOT)
        assert [one.resource_name for one in response.resources] == ["t", "*"]


@pytest.mark.parametrize(
    "parts",
    [
        {"resource_type_filter": 0},
        {"pattern_type_filter": 9},
        {"operation": 0},
        {"permission_type": 0},
    ],
)
async def test_a_filter_that_is_not_understood_is_refused(parts: dict[str, Any]) -> None:
    async with access_world() as world:
        response = await world.ask(wanted(**parts), 3, client=ROOT)
        assert response.error_code == ErrorCode.INVALID_REQUEST
