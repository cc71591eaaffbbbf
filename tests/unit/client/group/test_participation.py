"""Members come, stay and go."""

import pytest

from moldau.errors import ErrorCode, GroupAuthorizationFailed
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Drop, Fail
from unit.client.group.members import QUICK_GROUPS, member_of, settle
from unit.client.reading import read, write
from unit.waiting import until


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return QUICK_GROUPS


async def test_members_share_the_partitions(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka) as one:
        one.subscribe(["t"])
        await settle(one, counts=[3])
        async with member_of(kafka) as other:
            other.subscribe(["t"])
            await settle(one, other, counts=[1, 2])
            together = sorted(one.assignment() + other.assignment())
            assert [each.partition for each in together] == [0, 1, 2]
        await settle(one, counts=[3])


async def test_a_missing_topic_holds_up_no_other_and_is_read_when_it_is_there(
    kafka: EmbeddedBroker,
) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka, allow_auto_create_topics=False) as member:
        member.subscribe(["later", "t"])
        assert await read(member, 10) == list(range(10))
        await write(kafka, "later", range(5))
        assert await read(member, 5) == list(range(5))


async def test_the_leader_looks_for_the_missing_topics_of_others(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka) as leader:
        leader.subscribe(["t"])
        await settle(leader, counts=[3])
        async with member_of(kafka, allow_auto_create_topics=False) as member:
            member.subscribe(["later"])
            await settle(leader, member, counts=[3, 0])
            await write(kafka, "later", range(5))
            await settle(leader, member, counts=[3, 3])


async def test_a_member_that_is_gone_without_a_word_is_replaced(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka) as one:
        one.subscribe(["t"])
        lost = member_of(kafka, session_timeout_ms=300)
        await lost.start()
        lost.subscribe(["t"])
        await settle(one, lost, counts=[1, 2])
        kafka.control("LeaveGroup", lambda _: Drop())
        await lost.close()
        await settle(one, counts=[3])


@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup", "Heartbeat", "FindCoordinator"])
@pytest.mark.parametrize(
    "action",
    [
        Drop(),
        Fail(ErrorCode.NOT_COORDINATOR),
        Fail(ErrorCode.COORDINATOR_NOT_AVAILABLE),
        Fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
async def test_faults_of_the_coordinator_are_survived(
    kafka: EmbeddedBroker, api: str, action: Action
) -> None:
    calls: list[Call] = []

    def at_first(call: Call) -> Action:
        calls.append(call)
        return action if len(calls) <= 2 else None

    kafka.control(api, at_first)
    async with member_of(kafka) as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        while api == "Heartbeat" and len(calls) < 4:
            await member.poll(0.01)
        await settle(member, counts=[3])


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
    ],
)
async def test_a_member_that_is_sent_away_joins_again(
    kafka: EmbeddedBroker, code: ErrorCode
) -> None:
    given: list[int] = []
    async with member_of(kafka) as member:
        member.subscribe(["t"], on_assigned=lambda partitions: given.append(len(partitions)))
        await settle(member, counts=[3])
        release = kafka.control("Heartbeat", lambda _: Fail(code))
        while len(given) < 2:
            await member.poll(0.01)
        release()
        await settle(member, counts=[3])


async def test_whoever_may_not_join_is_told(kafka: EmbeddedBroker) -> None:
    kafka.control("JoinGroup", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    async with member_of(kafka) as member:
        member.subscribe(["t"])
        with pytest.raises(GroupAuthorizationFailed):
            await member.poll(10)


async def test_whoever_does_not_poll_leaves_until_it_polls_again(kafka: EmbeddedBroker) -> None:
    calls: list[Call] = []
    kafka.control("LeaveGroup", calls.append)
    async with member_of(kafka, max_poll_interval_ms=100) as member:
        member.subscribe(["t"])
        await settle(member, counts=[3])
        await until(lambda: calls)
        await member.poll(0.01)
        await settle(member, counts=[3])


async def test_a_long_wait_for_records_is_no_silence(kafka: EmbeddedBroker) -> None:
    calls: list[Call] = []
    kafka.control("LeaveGroup", calls.append)
    async with member_of(kafka, max_poll_interval_ms=50) as member:
        member.subscribe(["t"])
        await member.poll(0.3)
        assert len(member.assignment()) == 3
        assert not calls


async def test_a_static_member_keeps_its_partitions_when_it_comes_back(
    kafka: EmbeddedBroker,
) -> None:
    calls: list[Call] = []
    kafka.control("LeaveGroup", calls.append)
    for _ in range(2):
        async with member_of(kafka, group_instance_id="one") as member:
            member.subscribe(["t"])
            await settle(member, counts=[3])
    assert not calls
