"""What a consumer's group does for it: partitions, commits, listeners."""

from collections.abc import Callable

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.client.group.members import QUICK_GROUPS, member_of, settle
from unit.client.reading import read, write
from unit.client.topics import create_topic

T0 = TopicPartition("t", 0)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {**QUICK_GROUPS, "num.partitions": "1"}


async def test_the_next_member_goes_on_where_the_last_was(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    for expected in ([0, 1, 2, 3], [4, 5, 6]):
        async with member_of(kafka) as member:
            member.subscribe("t")
            assert await read(member, len(expected)) == expected


async def test_without_auto_commit_only_the_user_commits(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka, enable_auto_commit=False) as member:
        member.subscribe(["t"])
        assert await read(member, 4) == [0, 1, 2, 3]
        await member.commit()
        assert await read(member, 2) == [4, 5]
    async with member_of(kafka) as member:
        member.subscribe(["t"])
        assert await read(member, 1) == [4]


async def test_commits_happen_now_and_then(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka, auto_commit_interval_ms=20) as member:
        member.subscribe(["t"])
        await read(member, 10)
        while await member.committed([T0]) != {T0: 10}:
            await member.poll(0.01)


async def test_listeners_hear_what_comes_and_goes(kafka: EmbeddedBroker) -> None:
    heard: list[str] = []

    async def assigned(partitions: list[TopicPartition]) -> None:
        heard.append(f"+{partitions[0]}")

    async with member_of(kafka) as member:
        member.subscribe(
            ["t"],
            on_assigned=assigned,
            on_revoked=lambda partitions: heard.append(f"-{partitions[0]}"),
        )
        await settle(member, counts=[1])
    assert heard == ["+t-0", "-t-0"]


LOST = ["assigned", "lost", "assigned", "revoked"]
WITHOUT_ONE = ["assigned", "revoked", "assigned", "revoked"]


@pytest.mark.parametrize(
    ("code", "names", "expected"),
    [
        (ErrorCode.UNKNOWN_MEMBER_ID, ["assigned", "revoked", "lost"], LOST),
        (ErrorCode.ILLEGAL_GENERATION, ["assigned", "revoked", "lost"], LOST),
        (ErrorCode.ILLEGAL_GENERATION, ["assigned", "revoked"], WITHOUT_ONE),
        (ErrorCode.REBALANCE_IN_PROGRESS, ["assigned", "revoked", "lost"], WITHOUT_ONE),
    ],
)
async def test_whoever_was_thrown_out_hears_what_is_lost(
    kafka: EmbeddedBroker, code: ErrorCode, names: list[str], expected: list[str]
) -> None:
    heard: list[str] = []

    def hears(name: str) -> Callable[[list[TopicPartition]], None]:
        return lambda partitions: heard.append(name) if partitions else None

    # Soon over for the member that it was: this broker did not really throw it out.
    async with member_of(kafka, session_timeout_ms=500) as member:
        member.subscribe(["t"], **{f"on_{name}": hears(name) for name in names})
        await settle(member, counts=[1])
        failing = [Fail(code)]
        kafka.control("Heartbeat", lambda _: failing.pop() if failing else None)
        while len(heard) < 3:
            await member.poll(0.01)
    assert heard == expected


async def test_a_subscription_can_change_and_end(kafka: EmbeddedBroker) -> None:
    async with member_of(kafka) as member:
        member.subscribe(["t"])
        await settle(member, counts=[1])
        member.subscribe(["t", "u"])
        await settle(member, counts=[2])
        with pytest.raises(RuntimeError, match="either subscribe or assign"):
            member.assign([T0])
        member.unsubscribe()
        await settle(member, counts=[0])
        member.assign([T0])
        assert member.assignment() == [T0]


async def test_given_partitions_are_committed_too(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka) as member:
        member.assign([T0])
        assert await read(member, 4) == [0, 1, 2, 3]
    async with member_of(kafka) as member:
        member.assign([T0])
        assert await read(member, 1) == [4]


async def test_offsets_are_committed_in_the_generation_of_the_records(
    kafka: EmbeddedBroker,
) -> None:
    """Else they would be committed for partitions that another member reads by now."""
    create_topic(kafka, "t", 3)
    async with member_of(kafka) as one, member_of(kafka) as other:
        one.subscribe(["t"])
        await settle(one, counts=[3])
        before = one.group_metadata()
        other.subscribe(["t"])
        while len(one.assignment()) == 3:  # the group goes on without a poll of this member
            await other.poll(0.01)
        assert one.group_metadata() == before
        await settle(one, other, counts=[1, 2])
        await one.poll(0.01)
        assert one.group_metadata().generation > before.generation
