"""ConsumerGroupDescribe in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.list_groups import ListGroupsRequest
from unit.broker.consumer_group_client import joining, serving
from unit.broker.group_client import SETTINGS, join_request
from unit.broker.world import broker_world
from unit.coordinator.group.samples import subscription


def describe(*group_ids: str, operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=list(group_ids), include_authorized_operations=operations
    )


@pytest.mark.parametrize("version", range(2))
async def test_a_group_is_shown_with_its_members(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 2)
        await world.ask(joining("m"), 1)
        (group,) = (await world.ask(describe("g", operations=True), version)).groups
        assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Stable")
        assert (group.group_epoch, group.assignment_epoch) == (1, 1)
        assert (group.assignor_name, group.authorized_operations) == ("uniform", 328)
        (member,) = group.members
        assert (member.member_id, member.member_epoch) == ("m", 1)
        assert (member.subscribed_topic_names, member.subscribed_topic_regex) == (["t"], "")
        (topic,) = member.assignment.topic_partitions
        assert (topic.topic_name, topic.partitions) == ("t", [0, 1])
        assert member.target_assignment == member.assignment
        assert member.member_type == (1 if version else -1)


async def test_classic_members_are_told_apart() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 2)
        await world.ask(joining("m"), 1)
        request = join_request()
        request.protocols[0].metadata = subscription("t")
        assert (await world.ask(request, 3)).error_code == ErrorCode.NONE
        (group,) = (await world.ask(describe("g"), 1)).groups
        assert [member.member_type for member in group.members] == [1, 0]


async def test_groups_that_are_not_there_are_not_found() -> None:
    async with broker_world(SETTINGS) as world:
        (group,) = (await world.ask(describe("g"), 0)).groups
        assert group.error_code == ErrorCode.NOT_COORDINATOR
        await serving(world, "t", 1)
        groups = (await world.ask(describe("g", ""), 0)).groups
        assert [group.error_code for group in groups] == [
            ErrorCode.GROUP_ID_NOT_FOUND,
            ErrorCode.INVALID_GROUP_ID,
        ]


async def test_the_protocol_can_be_switched_off() -> None:
    settings = {**SETTINGS, "group.coordinator.rebalance.protocols": "classic"}
    async with broker_world(settings) as world:
        (group,) = (await world.ask(describe("g"), 0)).groups
        assert group.error_code == ErrorCode.UNSUPPORTED_VERSION


async def test_other_tools_see_the_group_too() -> None:
    async with broker_world(SETTINGS) as world:
        await serving(world, "t", 1)
        await world.ask(joining("m"), 1)
        (listed,) = (await world.ask(ListGroupsRequest(types_filter=["Consumer"]), 5)).groups
        assert (listed.group_id, listed.protocol_type) == ("g", "consumer")
        assert (listed.group_state, listed.group_type) == ("Stable", "consumer")
        (classic,) = (await world.ask(DescribeGroupsRequest(groups=["g"]), 5)).groups
        assert (classic.error_code, classic.group_state) == (ErrorCode.NONE, "Dead")
