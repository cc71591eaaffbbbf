"""What an OffsetCommit request comes to, however it was read."""

import pytest

from moldau.broker.requests import offset_commits as source
from moldau.broker.requests.offset_commits import UNSAID
from moldau.coordinator.group.messages import NOBODY, Committed
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from unit.broker.group_client import SETTINGS, find_coordinator
from unit.broker.world import CLIENT, START_MS, broker_world

T = TopicPartition("t", 0)
OTHER = TopicPartition("t", 1)
New = type[source.OffsetCommit]


@pytest.fixture(params=["source", "compiled"])
def new_commit(request: pytest.FixtureRequest) -> New:
    if request.param == "source":
        return source.OffsetCommit
    compiled = pytest.importorskip("moldau.broker.requests._offset_commits")
    made: New = compiled.OffsetCommit
    return made


async def test_offsets_of_known_partitions_are_taken_with_the_time(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        for retention_ms, timestamp, expected in (
            (UNSAID, UNSAID, (START_MS, -1)),
            (1_000, 99, (99, START_MS + 1_000)),
            (2**63 - 1, UNSAID, (START_MS, 2**63 - 1)),
        ):
            commit = new_commit(world.broker, CLIENT, "g", NOBODY, retention_ms)
            commit.add(T, 5, 2, None, timestamp)
            commit.add(OTHER, 5, 2, None)
            assert commit.offsets == {T: Committed(5, 2, "", *expected)}
            assert commit.errors == {OTHER: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


async def test_what_the_group_refuses_is_refused_for_every_offset(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        commit.add(T, 5, -1, "")
        await commit.store(commit.offsets)
        assert commit.errors == {T: ErrorCode.NOT_COORDINATOR}


async def test_without_offsets_nobody_is_asked(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await find_coordinator(world)
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        await commit.store({})
        assert commit.errors == {}
        assert world.broker.groups.shards.of("g").machine.find("g") is None


async def test_offsets_are_stored_by_the_group_or_in_the_tree(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await find_coordinator(world)
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        commit.add(T, 5, -1, "note")
        commit.add(OTHER, 6, -1, "x" * 5_000)
        await commit.store(commit.offsets)
        assert commit.errors == {T: ErrorCode.NONE, OTHER: ErrorCode.OFFSET_METADATA_TOO_LARGE}
        fetched = await world.broker.groups.fetch("g", [T], require_stable=False)
        assert fetched[T].offset == 5
        await commit.store_in_tree(T)
        await commit.store_in_tree(OTHER)
        assert commit.errors[OTHER] == ErrorCode.OFFSET_METADATA_TOO_LARGE
        assert (await world.tree.get("/consumers/g/offsets/t/0")).data == b"5"


async def test_a_text_of_the_largest_size_is_stored_in_the_tree(new_commit: New) -> None:
    async with broker_world({**SETTINGS, "offset.metadata.max.bytes": "10"}) as world:
        await world.create_topic("t", 2)
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        for partition, size in ((T, 10), (OTHER, 11)):
            commit.add(partition, 5, -1, "x" * size)
            await commit.store_in_tree(partition)
        assert commit.errors == {T: ErrorCode.NONE, OTHER: ErrorCode.OFFSET_METADATA_TOO_LARGE}


async def test_parts_of_a_long_request_add_to_the_same_errors(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        await find_coordinator(world)
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        commit.add(T, 5, -1, "")
        commit.add(OTHER, 6, -1, "")
        await commit.store({T: commit.offsets[T]})
        errors = commit.errors
        await commit.store({OTHER: commit.offsets[OTHER]})
        assert commit.errors is errors  # else each part would copy those before it
        assert errors == {T: ErrorCode.NONE, OTHER: ErrorCode.NONE}


async def test_topics_may_take_turns(new_commit: New) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await world.create_topic("u", 2)
        commit = new_commit(world.broker, CLIENT, "g", NOBODY)
        names = (("t", 0), ("u", 1), ("none", 0), ("t", 1), ("u", 0))
        for topic, number in names:
            commit.add(TopicPartition(topic, number), 5, -1, "")
        assert list(commit.offsets) == [("t", 0), ("u", 1), ("u", 0)]
        assert list(commit.errors) == [("none", 0), ("t", 1)]
