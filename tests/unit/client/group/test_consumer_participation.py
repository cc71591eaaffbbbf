"""Members of the consumer protocol come, stay and go."""

import asyncio
import re
from collections.abc import Callable

import pytest

from moldau.client.consumer.consumer import Consumer
from moldau.errors import (
    ErrorCode,
    FencedMemberEpoch,
    GroupAuthorizationFailed,
    UnsupportedAssignor,
)
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Drop, Fail
from unit.client.group.members import QUICK_GROUPS, member_of, settle
from unit.client.reading import read, write
from unit.client.topics import create_topic


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {
        **QUICK_GROUPS,
        "group.coordinator.rebalance.protocols": "classic,consumer",
        "group.consumer.min.heartbeat.interval.ms": "20",
        "group.consumer.heartbeat.interval.ms": "20",
        "group.consumer.min.session.timeout.ms": "500",
        "group.consumer.session.timeout.ms": "500",
    }


def new_member_of(kafka: EmbeddedBroker, **settings: object) -> Consumer[bytes, bytes]:
    return member_of(kafka, group_protocol="consumer", **settings)


def once(action: Action) -> Callable[[Call], Action]:
    actions = [action]
    return lambda _: actions.pop() if actions else None


async def test_members_share_the_partitions(kafka: EmbeddedBroker) -> None:
    async with new_member_of(kafka) as one:
        one.subscribe(["t"])
        await settle(one, counts=[3])
        async with new_member_of(kafka) as other:
            other.subscribe(["t"])
            await settle(one, other, counts=[1, 2])
            together = sorted(one.assignment() + other.assignment())
            assert [each.partition for each in together] == [0, 1, 2]
        await settle(one, counts=[3])


async def test_the_next_member_goes_on_where_the_last_was(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    for expected in ([0, 1, 2, 3], [4, 5, 6]):
        async with new_member_of(kafka) as member:
            member.subscribe("t")
            assert await read(member, len(expected)) == expected


async def test_a_missing_topic_holds_up_no_other_and_is_read_when_it_is_there(
    kafka: EmbeddedBroker,
) -> None:
    await write(kafka, "t", range(10))
    async with new_member_of(kafka, allow_auto_create_topics=False) as member:
        member.subscribe(["later", "t"])
        assert await read(member, 10) == list(range(10))
        await write(kafka, "later", range(5))
        assert await read(member, 5) == list(range(5))


async def test_only_what_moves_is_revoked(kafka: EmbeddedBroker) -> None:
    heard: list[str] = []
    async with new_member_of(kafka) as one, new_member_of(kafka) as other:
        one.subscribe(
            ["t"],
            on_assigned=lambda partitions: heard.append(f"+{len(partitions)}"),
            on_revoked=lambda partitions: heard.append(f"-{len(partitions)}"),
        )
        await settle(one, counts=[3])
        other.subscribe(["t"])
        await settle(one, other, counts=[1, 2])
        moved = 3 - len(one.assignment())
    assert "+3" in heard
    assert f"-{moved}" in heard
    assert heard[-1] == f"-{3 - moved}"


@pytest.mark.parametrize(
    "action",
    [
        Drop(),
        Fail(ErrorCode.NOT_COORDINATOR),
        Fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        Fail(ErrorCode.FENCED_MEMBER_EPOCH),
        Fail(ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
async def test_faults_of_the_coordinator_are_survived(
    kafka: EmbeddedBroker, action: Action
) -> None:
    async with new_member_of(kafka) as member:
        kafka.control("ConsumerGroupHeartbeat", once(action))
        member.subscribe(["t"])
        await settle(member, counts=[3])
        kafka.control("ConsumerGroupHeartbeat", once(action))
        async with new_member_of(kafka) as other:
            other.subscribe(["t"])
            await settle(member, other, counts=[1, 2])


async def test_a_refusal_is_told_to_the_user(kafka: EmbeddedBroker) -> None:
    async with new_member_of(kafka, group_remote_assignor="nonsense") as member:
        member.subscribe(["t"])
        with pytest.raises(UnsupportedAssignor):
            await member.poll(10)
    kafka.control("ConsumerGroupHeartbeat", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    async with new_member_of(kafka) as member:
        member.subscribe(["t"])
        with pytest.raises(GroupAuthorizationFailed):
            await member.poll(10)


async def test_a_subscription_can_change_and_end(kafka: EmbeddedBroker) -> None:
    async with new_member_of(kafka) as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        member.subscribe(["t", "u"])
        await settle(member, counts=[6])
        member.unsubscribe()
        await settle(member, counts=[0])


async def test_a_pattern_finds_topics_that_come_later(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "orders-1")
    async with new_member_of(kafka, metadata_max_age_ms=50) as member:
        member.subscribe(re.compile("^orders-"))
        await settle(member, counts=[1])
        create_topic(kafka, "orders-2", partitions=2)
        await settle(member, counts=[3])


async def test_who_does_not_poll_leaves_and_comes_back(kafka: EmbeddedBroker) -> None:
    async with new_member_of(kafka, max_poll_interval_ms=200) as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        async with asyncio.timeout(20):
            while member.assignment():
                await asyncio.sleep(0)
        await settle(member, counts=[3])


async def test_a_static_member_keeps_its_place(kafka: EmbeddedBroker) -> None:
    before: list[TopicPartition] = []
    async with new_member_of(kafka, group_instance_id="other") as other:
        other.subscribe(["t"])
        async with new_member_of(kafka, group_instance_id="i") as member:
            member.subscribe(["t"])
            await settle(member, other, counts=[1, 2])
            before = member.assignment()
        async with new_member_of(kafka, group_instance_id="i") as member:
            member.subscribe(["t"])
            await settle(member, counts=[len(before)])
            assert member.assignment() == before


async def test_a_commit_at_closing_survives_that_the_answer_with_the_new_epoch_was_lost(
    kafka: EmbeddedBroker,
) -> None:
    await write(kafka, "t", range(10))
    async with new_member_of(kafka) as one:
        one.subscribe(["t"])
        assert await read(one, 10) == list(range(10))
        async with new_member_of(kafka) as other:
            other.subscribe(["t"])
            await settle(one, other, counts=[1, 2])
            kept = one.assignment()
            expected = {each: await one.position(each) for each in kept}
            assert one._group is not None
            one._group._membership.generation -= 1  # as before the last answer
            await one.close()
            assert await other.committed(kept) == expected


async def test_a_member_that_was_replaced_cannot_commit(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with new_member_of(kafka) as member:
        member.subscribe(["t"])
        assert await read(member, 10) == list(range(10))
        kafka.control("OffsetCommit", lambda _: Fail(ErrorCode.STALE_MEMBER_EPOCH))
        kafka.control("ConsumerGroupHeartbeat", lambda _: Fail(ErrorCode.FENCED_MEMBER_EPOCH))
        with pytest.raises(FencedMemberEpoch):
            await member.commit()
