"""Groups: listed, described, deleted, emptied."""

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.groups import LeavingMember
from moldau.errors import (
    GroupAuthorizationFailed,
    GroupIdNotFound,
    NetworkException,
    NonEmptyGroup,
    UnknownMemberId,
    UnsupportedVersion,
)
from moldau.model import TopicPartition
from moldau.protocol.messages import consumer_group_describe as new
from moldau.protocol.messages import describe_groups as classic
from moldau.protocol.messages.find_coordinator import FindCoordinatorResponse
from moldau.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from moldau.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Respond
from unit.client.admin.answering import Answering, admin_of
from unit.client.group.members import QUICK_GROUPS, member_of, settle


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return QUICK_GROUPS


async def test_a_group_is_described_with_its_members(admin: Admin, kafka: EmbeddedBroker) -> None:
    async with member_of(kafka, client_id="reader", group_instance_id="i") as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        (listed,) = await admin.list_groups()
        assert (listed.group_id, listed.protocol_type) == ("g", "consumer")
        described = (await admin.describe_groups("g"))["g"]
        assert (described.state, described.assignor, described.group_type) == (
            "Stable",
            "range",
            "classic",
        )
        (reader,) = described.members
        assert (reader.client_id, reader.instance_id) == ("reader", "i")
        assert reader.assignment == [TopicPartition("t", each) for each in range(3)]
        with pytest.raises(NonEmptyGroup):
            (await admin.delete_groups("g")).check()


async def test_lists_can_be_filtered(admin: Admin) -> None:
    await admin.create_topics(["t"])
    await admin.alter_group_offsets("g", {TopicPartition("t", 0): 0})
    assert [each.state for each in await admin.list_groups(states=["Empty"])] == ["Empty"]
    assert await admin.list_groups(states=["Stable"]) == []
    assert await admin.list_groups(types=["consumer"]) == []


async def test_an_empty_group_can_be_deleted(admin: Admin) -> None:
    await admin.create_topics(["t"])
    await admin.alter_group_offsets("g", {TopicPartition("t", 0): 0})
    outcomes = await admin.delete_groups(["g", "x"])
    assert outcomes["g"] is None
    with pytest.raises(GroupIdNotFound):
        outcomes["x"]
    assert await admin.list_groups() == []
    assert (await admin.describe_groups("g"))["g"].state == "Dead"


async def test_members_are_sent_away(admin: Admin, kafka: EmbeddedBroker) -> None:
    # They rejoin when a heartbeat tells them, which here comes late.
    calm = {"heartbeat_interval_ms": 30_000, "session_timeout_ms": 45_000}
    async with (
        member_of(kafka, group_instance_id="i", **calm) as member,
        member_of(kafka, group_id="h", **calm) as other,
    ):
        for each in (member, other):
            each.subscribe(["t"])
            await settle(each, counts=[3])
        outcomes = await admin.remove_group_members(
            "g", [LeavingMember(instance_id="i"), LeavingMember("nobody")]
        )
        assert outcomes[LeavingMember(instance_id="i")] is None
        with pytest.raises(UnknownMemberId):
            outcomes[LeavingMember("nobody")]
        assert len(await admin.remove_group_members("h")) == 1
        assert (await admin.describe_groups("h"))["h"].members == []
        assert len(await admin.remove_group_members("h")) == 0


async def test_what_members_exchange_need_not_be_kafkas(
    admin: Admin, kafka: EmbeddedBroker
) -> None:
    member = classic.DescribedGroupMember(
        member_id="m", client_id="c", client_host="/h", member_metadata=b"", member_assignment=b"?"
    )
    groups = [
        classic.DescribedGroup(
            error_code=0,
            group_id=name,
            group_state="Stable",
            protocol_type=name,
            protocol_data="p",
            members=[member],
        )
        for name in ("consumer", "connect")
    ]
    denied = classic.DescribedGroup(
        error_code=30, group_id="d", group_state="", protocol_type="", protocol_data="", members=[]
    )
    answer = classic.DescribeGroupsResponse(groups=[*groups, denied])
    kafka.control("DescribeGroups", lambda _: Respond(answer))
    outcomes = await admin.describe_groups(["consumer", "connect", "d"])
    assert outcomes["consumer"].members[0].assignment == []
    assert outcomes["connect"].members[0].assignment == []
    with pytest.raises(GroupAuthorizationFailed):
        outcomes["d"]


def new_group(group_id: str) -> new.DescribedGroup:
    """A group of the new protocol, or what a broker says of one that is not."""
    part = new.TopicPartitions(topic_id=bytes(16), topic_name="t", partitions=[1])
    member = new.Member(
        member_id="m",
        member_epoch=4,
        client_id="c",
        client_host="/h",
        subscribed_topic_names=["t"],
        assignment=new.Assignment(topic_partitions=[part]),
        target_assignment=new.Assignment(topic_partitions=[]),
    )
    return new.DescribedGroup(
        error_code=0 if group_id == "new" else 69,
        group_id=group_id,
        group_state="Stable",
        group_epoch=4,
        assignment_epoch=4,
        assignor_name="uniform",
        members=[member],
    )


async def test_groups_of_the_new_protocol_are_asked_for_first() -> None:
    old = classic.DescribedGroup(
        error_code=0,
        group_id="old",
        group_state="Empty",
        protocol_type="consumer",
        protocol_data="",
        members=[],
    )
    broker = Answering(
        ConsumerGroupDescribe=lambda request: new.ConsumerGroupDescribeResponse(
            throttle_time_ms=0, groups=[new_group(each) for each in request.group_ids]
        ),
        DescribeGroups=lambda _: classic.DescribeGroupsResponse(groups=[old]),
        FindCoordinator=lambda _: FindCoordinatorResponse(
            node_id=1, host=broker.address.host, port=broker.address.port
        ),
    )
    broker.newest["FindCoordinator"] = 3  # which asks for one group at a time
    async with admin_of(broker) as admin:
        outcomes = await admin.describe_groups(["new", "old"])
    assert (outcomes["new"].group_type, outcomes["new"].assignor) == ("consumer", "uniform")
    (found,) = outcomes["new"].members
    assert (found.assignment, found.target_assignment, found.epoch) == (
        [TopicPartition("t", 1)],
        [],
        4,
    )
    assert outcomes["old"].group_type == "classic"


async def test_what_an_old_broker_cannot_do_is_said() -> None:
    broker = Answering(ListGroups=lambda _: None)
    broker.newest["ListGroups"] = 2
    async with admin_of(broker) as admin:
        with pytest.raises(UnsupportedVersion, match="states_filter"):
            await admin.list_groups(states=["Empty"])


async def test_groups_of_brokers_that_answer_are_listed_though_others_do_not() -> None:
    listed = ListGroupsResponse(
        error_code=0,
        groups=[ListedGroup(group_id="g", protocol_type="consumer", group_state="Empty")],
    )
    broker = Answering(ListGroups=lambda _: listed)
    here = broker.metadata

    def two_brokers() -> MetadataResponse:
        answer = here()
        answer.brokers.append(MetadataResponseBroker(node_id=2, host="127.0.0.1", port=1))
        return answer

    broker.metadata = two_brokers  # type: ignore[method-assign]
    async with admin_of(broker, default_api_timeout_ms=200) as admin:
        found = await admin.list_groups_by_broker()
        assert [each.group_id for each in found[1]] == ["g"]
        assert list(found.errors) == [2]
        with pytest.raises(NetworkException):
            await admin.list_groups()
