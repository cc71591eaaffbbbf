"""A group is behind for want of members, for a transaction, for one partition, for a quota."""

import pytest

from moldau.client.admin.groups import GroupDescription, MemberDescription
from moldau.console.lag import GroupLag, PartitionLag
from moldau.console.why.groups import GroupFacts, why_group
from moldau.model import TopicPartition

SHRINKS = [(0, 100), (10_000, 50)]
GROWS = [(0, 100), (10_000, 150)]
HOSTILE = "g'; rm -rf / #"


def lag_of(*numbers: int | None) -> GroupLag:
    return GroupLag(
        {
            TopicPartition("t", number): PartitionLag(10, 0, None if lag is None else 10 + lag)
            for number, lag in enumerate(numbers)
        }
    )


def group(members: int = 0, state: str = "Stable") -> GroupDescription:
    listed = [
        MemberDescription(f"m{number}", None, "c", "/h", [TopicPartition("t", number)])
        for number in range(members)
    ]
    return GroupDescription(HOSTILE, "classic", "consumer", state, "range", 0, listed, None)


def texts(state: GroupFacts) -> list[str]:
    return [each.text for each in why_group(state).causes]


def test_a_group_without_lag_has_no_cause() -> None:
    assert texts(GroupFacts(group(1), lag_of(0), "s")) == []


def test_nothing_reads() -> None:
    (cause,) = why_group(GroupFacts(group(), lag_of(5, 5), "s")).causes
    assert cause.text == "It has no members: nothing reads for it"
    assert "'g'\"'\"'; rm -rf / #'" in cause.command, "the name is quoted"


@pytest.mark.parametrize(
    ("members", "lag", "points", "expected"),
    [
        (1, (5, 5), GROWS, "1 members read 2 partitions, and do not catch up"),
        (2, (5, 5), GROWS, "Records arrive as fast as they are read, or faster"),
        (1, (9, 0, 0, 0), SHRINKS, "All of the lag is in t-0 (9)"),
    ],
)
def test_members_that_read_too_slowly(
    members: int, lag: tuple[int, ...], points: list[tuple[int, int]], expected: str
) -> None:
    assert texts(GroupFacts(group(members), lag_of(*lag), "s", points)) == [expected]


def test_a_group_that_catches_up_is_left_alone() -> None:
    state = GroupFacts(group(1), lag_of(5, 5), "s", SHRINKS)
    assert texts(state) == []
    assert why_group(state).known[-1] == "Its lag shrinks"
    assert GroupFacts(group(1), lag_of(5), "s", [(0, 5), (1000, 5)]).is_closing is None


def test_rebalances_idle_members_and_quotas() -> None:
    idle = group(3, "PreparingRebalance")
    idle.members.append(MemberDescription("m9", None, "c", "/h", []))
    found = texts(GroupFacts(idle, lag_of(5, 5, 5), "s", quotas=["c"]))
    assert found[0] == "It is PreparingRebalance: nobody reads until all members agree"
    assert found[1].startswith("1 of its 4 members are idle: there are only 3 partitions")
    assert found[2] == "Brokers slow its clients down by a quota: c"


def test_what_is_seen_is_certain() -> None:
    lag = GroupLag(
        {
            TopicPartition("t", 0): PartitionLag(5, 8, 20),
            TopicPartition("t", 1): PartitionLag(30, 0, 20),
            TopicPartition("t", 2): PartitionLag(5, 0, None),
            TopicPartition("t", 3): PartitionLag(5, 0, 5),
        }
    )
    state = GroupFacts(group(1), lag, "s", held={TopicPartition("t", 3): 5})
    certain = [each.text for each in why_group(state).causes if each.is_certain]
    assert certain == [
        "Records that it had not read are deleted: t-0",
        "Its offsets lie behind the end: t-1",
        "A transaction is open: who reads committed records waits at t-3 at 5",
        "The end of t-2 is not known: their leaders do not answer",
    ]


def test_offsets_that_cannot_be_read_are_known_of() -> None:
    found = why_group(GroupFacts(group(), GroupLag(error="GROUP_AUTHORIZATION_FAILED"), "s"))
    assert found.known[-1] == "Its offsets cannot be read: GROUP_AUTHORIZATION_FAILED"
