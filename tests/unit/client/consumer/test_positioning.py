"""Where reading begins."""

from collections.abc import AsyncIterator, Iterable

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.consumer.assignment import Assignment
from moldau.client.consumer.fetch_session import ReadPosition
from moldau.client.consumer.positioning import Positioning
from moldau.client.offset_lookup import OffsetLookup
from moldau.client.settings import ClientSettings
from moldau.errors import LeaderNotAvailable, OffsetOutOfRange
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from unit.client.reading import write

T0 = TopicPartition("t", 0)


@pytest.fixture
async def offsets(kafka: EmbeddedBroker) -> AsyncIterator[OffsetLookup]:
    await write(kafka, "t", range(5))
    cluster = Cluster(ClientSettings(bootstrap_servers=kafka.bootstrap_servers))
    yield OffsetLookup(cluster, is_committed_only=False)
    cluster.close()


def unread() -> Assignment:
    assignment = Assignment()
    assignment.replace([T0])
    return assignment


async def committed(partitions: Iterable[TopicPartition]) -> dict[TopicPartition, ReadPosition]:
    return dict.fromkeys(partitions, ReadPosition(3, 0))


@pytest.mark.parametrize(("policy", "position"), [("earliest", 0), ("latest", 5)])
async def test_the_policy_says_which_end(offsets: OffsetLookup, policy: str, position: int) -> None:
    assignment = unread()
    await Positioning(offsets, assignment, policy).locate(list(assignment))
    assert assignment[T0].position == position


async def test_nobody_waits_for_a_topic_that_is_missing(kafka: EmbeddedBroker) -> None:
    await write(kafka, "t", range(5))
    settings = ClientSettings(bootstrap_servers=kafka.bootstrap_servers)
    cluster = Cluster(settings, creates_topics=False)
    offsets = OffsetLookup(cluster, is_committed_only=False)
    assignment = Assignment()
    assignment.replace([TopicPartition("absent", 0), T0])
    with pytest.raises(LeaderNotAvailable, match="topic absent was not found"):
        await Positioning(offsets, assignment, "latest").locate(list(assignment))
    assert assignment[T0].position == 5
    cluster.close()


async def test_what_was_committed_comes_first(offsets: OffsetLookup) -> None:
    assignment = unread()
    found: list[int | None] = []
    positioning = Positioning(offsets, assignment, "none")
    positioning.fetch_committed = committed
    positioning.when_found = lambda: found.append(assignment[T0].position)
    await positioning.locate(list(assignment))
    assert found == [3]


async def test_an_offset_that_is_gone_is_not_used_again(offsets: OffsetLookup) -> None:
    assignment = unread()
    assignment[T0].lose_position()
    positioning = Positioning(offsets, assignment, "earliest")
    positioning.fetch_committed = committed
    await positioning.locate(list(assignment))
    assert assignment[T0].position == 0


async def test_without_a_policy_the_user_decides(offsets: OffsetLookup) -> None:
    assignment = unread()
    with pytest.raises(OffsetOutOfRange, match="no offset to begin with for t-0"):
        await Positioning(offsets, assignment, "none").locate(list(assignment))


async def test_the_user_may_want_something_else_by_then(offsets: OffsetLookup) -> None:
    assignment = unread()
    positioning = Positioning(offsets, assignment, "earliest")

    async def seek_meanwhile(
        partitions: Iterable[TopicPartition],
    ) -> dict[TopicPartition, ReadPosition]:
        assignment[T0].seek(2)
        return dict.fromkeys(partitions, ReadPosition(4))

    positioning.fetch_committed = seek_meanwhile
    await positioning.locate(list(assignment))
    assert assignment[T0].position == 2
