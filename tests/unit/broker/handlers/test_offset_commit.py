"""OffsetCommit in all versions."""

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.replication.partition import Partition, PartitionState
from unit.broker.group_client import (
    SETTINGS,
    commit_errors,
    commit_request,
    find_coordinator,
    joined,
)
from unit.broker.world import START_MS, World, broker_world

T = TopicPartition("t", 0)


@pytest.mark.parametrize("version", range(1, 10))
async def test_a_member_commits(version: int) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        member_id = await joined(world)
        request = commit_request(("t", 0, 5), member_id=member_id, generation_id_or_member_epoch=1)
        assert commit_errors(await world.ask(request, version)) == [ErrorCode.NONE]
        fetched = await world.broker.groups.fetch("g", [T], require_stable=False)
        assert (fetched[T].offset, fetched[T].metadata) == (5, "note")


async def test_unknown_partitions_are_refused_alone() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        request = commit_request(("t", 1, 5), ("t", 0, 5), ("u", 0, 5))
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert commit_errors(await world.ask(request, 2)) == [unknown, ErrorCode.NONE, unknown]
        assert commit_errors(await world.ask(commit_request(("u", 0, 5)), 2)) == [unknown]


async def test_a_refusal_of_the_group_is_told_for_every_partition() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t", 2)
        request = commit_request(("t", 0, 5), ("t", 1, 5), ("u", 0, 5))
        elsewhere = ErrorCode.NOT_COORDINATOR
        expected = [elsewhere, elsewhere, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        assert commit_errors(await world.ask(request, 2)) == expected


def replicated(world: World) -> Partition:
    """The partition of the offsets topic, once another broker follows it in sync."""
    partition = world.partition("__consumer_offsets", world.broker.groups.shards.partition_of("g"))
    state = PartitionState(1, 0, 1, (0, 1), 0, (0, 1))
    partition.lead(state, now_ms=world.clock.now_ms())
    return partition


@pytest.mark.parametrize("metadata", [None, "note"])
async def test_a_commit_waits_until_those_in_sync_have_it(metadata: str | None) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        partition = replicated(world)
        request = commit_request(("t", 0, 5), ("u", 0, 5))
        request.topics[0].partitions[0].committed_metadata = metadata
        asking = await world.park(request, 8)
        end_offset = partition.log.log_end_offset
        assert world.broker.groups.counts.committed_offsets == 0
        partition.note_fetch(1, end_offset, log_start_offset=0, now_ms=world.clock.now_ms())
        world.broker.waiters.wake(partition.topic_partition)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert commit_errors(await asking) == [ErrorCode.NONE, unknown]
        assert world.broker.groups.counts.committed_offsets == 1
        assert 'totaltimems_count{request="OffsetCommit"} 1' in world.broker.metrics.text()


async def test_a_commit_that_waits_hears_that_another_broker_leads() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        partition = replicated(world)
        asking = await world.park(commit_request(("t", 0, 5)), 8)
        partition.follow(PartitionState(1, 1, 2, (1,), 0, (0, 1)))
        world.broker.waiters.wake(partition.topic_partition)
        assert commit_errors(await asking) == [ErrorCode.NOT_COORDINATOR]


async def test_a_commit_that_waits_too_long_is_told_so() -> None:
    async with broker_world({**SETTINGS, "offsets.commit.timeout.ms": "1"}) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        replicated(world)
        errors = commit_errors(await world.ask(commit_request(("t", 0, 5)), 8))
        assert errors == [ErrorCode.REQUEST_TIMED_OUT]


@pytest.mark.parametrize(
    ("retention_ms", "expected"),
    [(-1, -1), (1000, START_MS + 1000), (2**63 - 1, 2**63 - 1)],
)
async def test_old_clients_say_how_long_to_keep_it(retention_ms: int, expected: int) -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        request = commit_request(("t", 0, 5), retention_time_ms=retention_ms)
        assert commit_errors(await world.ask(request, 2)) == [ErrorCode.NONE]
        group = world.broker.groups.shards.of("g").machine.find("g")
        assert group is not None
        stored = group.group.offsets.committed[T]
        assert (stored.expire_timestamp, stored.commit_timestamp) == (expected, START_MS)


async def test_version_1_has_a_timestamp_of_its_own() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        await find_coordinator(world)
        request = commit_request(("t", 0, 5))
        request.topics[0].partitions[0].commit_timestamp = 99
        await world.ask(request, 1)
        group = world.broker.groups.shards.of("g").machine.find("g")
        assert group is not None
        assert group.group.offsets.committed[T].commit_timestamp == 99


async def test_version_0_goes_into_the_tree() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        request = commit_request(("t", 0, 5), ("u", 0, 5))
        errors = commit_errors(await world.ask(request, 0))
        assert errors == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        assert (await world.tree.get("/consumers/g/offsets/t/0")).data == b"5"
        request.topics[0].partitions[0].committed_metadata = "x" * 5000
        errors = commit_errors(await world.ask(request, 0))
        assert errors[0] == ErrorCode.OFFSET_METADATA_TOO_LARGE
