"""Requests about groups: what they wait for, and what they hear when things fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.counts import GroupCounts
from moldau.coordinator.group.consumer.pattern_topics import PatternTopics
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import Committed, JoinReply, MemberIdentity, Sync, SyncReply
from moldau.coordinator.group_coordinator import GroupCoordinator
from moldau.coordinator.shard import ShardPorts
from moldau.coordinator.shards import Shards
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import BrokerNode, ClusterImage, PartitionImage, TopicImage
from moldau.model import TopicPartition
from moldau.records.batch import Producer
from moldau.runtime.clock import SystemClock
from moldau.runtime.waiters import Waiters
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.group.consumer.samples import image
from unit.coordinator.group.consumer.samples import joining as consumer_joining
from unit.coordinator.group.samples import joining
from unit.coordinator.test_shards import turns

T = TopicPartition("t", 0)
TOPICS = image(t=1)
CONSUMERS = GroupConfig(group_coordinator_rebalance_protocols=("classic", "consumer"))
CONFIG = GroupConfig(group_initial_rebalance_delay_ms=0, offsets_retention_minutes=1)


class Setup:
    """A coordinator with one partition, which it leads."""

    def __init__(self, config: GroupConfig = CONFIG, topics: ClusterImage = TOPICS) -> None:
        self.journal = MemoryJournal()
        self.waiters = Waiters()
        ports = ShardPorts(SystemClock(), self.waiters, commit_timeout_s=0.02)
        patterns = PatternTopics(lambda: topics)
        machine = partial(Groups, config, lambda: topics, patterns.resolve)
        shards = Shards("offsets", machine, ports, partition_count=lambda: 1)
        self.groups = GroupCoordinator(
            shards, config, ports, new_uuid=lambda: bytes(range(16)), patterns=patterns
        )

    async def stable(self) -> None:
        """One member, which has its assignment."""
        await self.groups.join("g", joining("a"))
        await self.groups.sync("g", Sync(MemberIdentity("a", 1), assignments={"a": b"all"}))

    def fail(self, code: ErrorCode) -> None:
        self.journal.failure = KafkaError(code)

    async def commit(self, offset: int = 5, producer_id: int = -1) -> ErrorCode:
        producer = Producer(producer_id, 0 if producer_id >= 0 else -1, -1)
        errors = await self.groups.commit("s", MemberIdentity(), {T: Committed(offset)}, producer)
        return errors[T]


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    async with running(Setup()) as made:
        yield made


@pytest.fixture
async def consumers() -> AsyncIterator[Setup]:
    """The same, with the consumer protocol."""
    async with running(Setup(CONSUMERS)) as made:
        yield made


@asynccontextmanager
async def running(made: Setup) -> AsyncIterator[Setup]:
    task = asyncio.ensure_future(made.groups.run())
    made.groups.shards.lead(0, made.journal)
    await turns()
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def code_of(work: object) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        await work  # type: ignore[misc]
    return raised.value.code


async def test_a_join_is_answered_when_the_generation_begins(setup: Setup) -> None:
    reply = await setup.groups.join("g", joining("a"))
    assert (reply.error, reply.generation, reply.leader_id) == (ErrorCode.NONE, 1, "a")


async def test_a_sync_is_answered_when_the_assignment_is_committed(setup: Setup) -> None:
    await setup.groups.join("g", joining("a"))
    setup.journal.is_slow = True
    sync = Sync(MemberIdentity("a", 1), assignments={"a": b"all"})
    waiting = asyncio.ensure_future(setup.groups.sync("g", sync))
    await turns()
    assert not waiting.done()
    setup.journal.commit()
    setup.waiters.wake(setup.journal.name)
    assert (await waiting).assignment == b"all"


async def test_an_assignment_that_is_not_committed_in_time_is_not_told(setup: Setup) -> None:
    await setup.groups.join("g", joining("a"))
    setup.journal.is_slow = True
    sync = Sync(MemberIdentity("a", 1), assignments={"a": b"all"})
    assert await setup.groups.sync("g", sync) == SyncReply(ErrorCode.REBALANCE_IN_PROGRESS)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS),
        (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST),
    ],
)
async def test_an_assignment_that_cannot_be_stored_is_refused(
    setup: Setup, failure: ErrorCode, told: ErrorCode
) -> None:
    await setup.groups.join("g", joining("a"))
    setup.fail(failure)
    sync = Sync(MemberIdentity("a", 1), assignments={"a": b"all"})
    assert (await setup.groups.sync("g", sync)).error is told
    assert setup.groups.heartbeat("g", MemberIdentity("a", 1)) is ErrorCode.REBALANCE_IN_PROGRESS


async def test_a_static_member_returns_when_its_new_id_is_stored(setup: Setup) -> None:
    await setup.groups.join("g", joining("a", instance_id="i"))
    identity = MemberIdentity("a", 1, "i")
    await setup.groups.sync("g", Sync(identity, assignments={"a": b"all"}))
    returned = await setup.groups.join("g", joining("b", instance_id="i"))
    assert (returned.error, returned.member_id) == (ErrorCode.NONE, "b")
    setup.fail(ErrorCode.NOT_ENOUGH_REPLICAS)
    refused = await setup.groups.join("g", joining("c", instance_id="i"))
    assert refused == JoinReply(ErrorCode.COORDINATOR_NOT_AVAILABLE, "")


async def test_a_group_needs_a_name_except_for_offsets(setup: Setup) -> None:
    assert await code_of(setup.groups.join("", joining("a"))) is ErrorCode.INVALID_GROUP_ID
    errors = await setup.groups.commit("", MemberIdentity(), {T: Committed(5)})
    assert errors == {T: ErrorCode.NONE}
    fetched = await setup.groups.fetch("", [T], require_stable=False)
    assert fetched[T].offset == 5
    assert setup.groups.describe("").state == "Empty"
    assert await setup.groups.delete("") is ErrorCode.NONE


async def test_while_it_loads_members_are_kept_quiet(setup: Setup) -> None:
    setup.groups.shards.resign(0)
    setup.groups.shards.lead(0, setup.journal)
    assert setup.groups.heartbeat("g", MemberIdentity("a", 1)) is ErrorCode.NONE
    reply = await setup.groups.sync("g", Sync(MemberIdentity("a", 1)))
    assert reply.error is ErrorCode.REBALANCE_IN_PROGRESS
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert setup.groups.overviews() == (loading, [])
    assert await code_of(setup.groups.join("g", joining("a"))) is loading


async def test_what_another_broker_coordinates_is_refused(setup: Setup) -> None:
    setup.groups.shards.resign(0)
    with pytest.raises(KafkaError):
        setup.groups.heartbeat("g", MemberIdentity("a", 1))
    code = await code_of(setup.groups.sync("g", Sync(MemberIdentity("a", 1))))
    assert code is ErrorCode.NOT_COORDINATOR


async def test_leaving_answers_for_each_and_never_waits(setup: Setup) -> None:
    await setup.stable()
    setup.fail(ErrorCode.NOT_ENOUGH_REPLICAS)
    errors = setup.groups.leave("g", [MemberIdentity("x"), MemberIdentity("a")])
    assert errors == [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE]
    assert setup.groups.describe("g").state == "Empty"


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT),
    ],
)
async def test_a_commit_that_cannot_be_stored_is_refused(
    setup: Setup, failure: ErrorCode, told: ErrorCode
) -> None:
    setup.fail(failure)
    long = Committed(6, metadata="x" * 5000)
    errors = await setup.groups.commit(
        "g", MemberIdentity(), {T: Committed(5), TopicPartition("u", 0): long}
    )
    assert list(errors.values()) == [told, ErrorCode.OFFSET_METADATA_TOO_LARGE]


async def test_an_offset_that_may_be_lost_is_not_told(setup: Setup) -> None:
    setup.journal.is_slow = True
    assert await setup.commit() is ErrorCode.REQUEST_TIMED_OUT
    code = await code_of(setup.groups.fetch("s", [T], require_stable=False))
    assert code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    setup.fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    code = await code_of(setup.groups.fetch("s", [T], require_stable=False))
    assert code is ErrorCode.NOT_COORDINATOR


async def test_transactional_offsets_count_after_the_marker(setup: Setup) -> None:
    assert await setup.commit(7, producer_id=3) is ErrorCode.NONE
    fetched = await setup.groups.fetch("s", None, require_stable=False)
    assert fetched == {}
    setup.groups.end_transaction(0, 3, is_commit=True)
    fetched = await setup.groups.fetch("s", [T], require_stable=True)
    assert fetched[T].offset == 7


async def test_offsets_are_deleted_when_that_is_stored(setup: Setup) -> None:
    await setup.commit()
    assert await setup.groups.delete_offsets("s", [T]) == {T: ErrorCode.NONE}
    await setup.commit()
    setup.fail(ErrorCode.NOT_ENOUGH_REPLICAS)
    code = await code_of(setup.groups.delete_offsets("s", [T]))
    assert code is ErrorCode.COORDINATOR_NOT_AVAILABLE


async def test_deleted_topics_and_old_offsets_are_forgotten(setup: Setup) -> None:
    await setup.commit()
    setup.groups.forget_partitions([T])
    assert setup.groups.overviews() == (ErrorCode.NONE, [])
    long_ago = Committed(5, commit_timestamp=0)
    await setup.groups.commit("s", MemberIdentity(), {T: long_ago})
    await setup.groups.forget_expired()
    assert setup.groups.overviews() == (ErrorCode.NONE, [])
    assert setup.groups.counts == GroupCounts(
        committed_offsets=2, deleted_offsets=1, expired_offsets=1
    )


async def test_very_many_offsets_are_forgotten_in_batches(setup: Setup) -> None:
    offsets = {TopicPartition("t", n): Committed(5, commit_timestamp=0) for n in range(1500)}
    for group in range(201):
        await setup.groups.commit(
            f"g{group}", MemberIdentity(), {T: Committed(1, commit_timestamp=0)}
        )
    await setup.groups.commit("s", MemberIdentity(), offsets)
    await setup.groups.forget_expired()
    assert setup.groups.overviews() == (ErrorCode.NONE, [])


def test_member_ids_tell_who_it_is() -> None:
    setup = Setup()
    member_id = setup.groups.new_member_id("client")
    assert member_id == "client-00010203-0405-0607-0809-0a0b0c0d0e0f"


async def test_heartbeats_of_the_consumer_protocol_are_answered_when_committed(
    consumers: Setup,
) -> None:
    heartbeat = consumer_joining("a")
    assert (await consumers.groups.consumer_heartbeat("g", heartbeat)).epoch == 1
    assert consumers.groups.describe_consumer("g").state == "Stable"
    consumers.journal.is_slow = True
    late = consumers.groups.consumer_heartbeat("g", consumer_joining("b"))
    assert await code_of(late) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    for failure, told in (
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
    ):
        consumers.fail(failure)
        refused = consumers.groups.consumer_heartbeat("g", consumer_joining("c"))
        assert await code_of(refused) is told


async def test_patterns_are_resolved_one_after_the_other_before_their_heartbeats() -> None:
    replicas = {0: PartitionImage(0, 0, (0,), (0,))}
    names = [f"topic{n}" for n in range(3000)]
    topics = {
        name: TopicImage(name, n.to_bytes(16, "big"), replicas) for n, name in enumerate(names, 1)
    }
    made = Setup(CONSUMERS, ClusterImage(0, {0: BrokerNode(0, {})}, topics))
    heartbeats = [
        replace(consumer_joining("a", pattern="topic1?"), must_have_id=True),
        replace(consumer_joining("b", pattern="topic299[0-5]"), must_have_id=True),
    ]
    async with running(made):
        first, second = (
            asyncio.ensure_future(made.groups.consumer_heartbeat("g", each)) for each in heartbeats
        )
        await turns(3)
        assert not first.done()
        await first
        assert not second.done()
        await second
        group = made.groups.shards.at(0).machine.find_consumer("g")
        assert group is not None
        resolved = [each.topics for each in group.group.patterns.values()]
        assert resolved == [("topic1",), tuple(f"topic299{n}" for n in range(6))]


async def test_the_consumer_protocol_can_be_switched_off(setup: Setup) -> None:
    heartbeat = setup.groups.consumer_heartbeat("g", consumer_joining("a"))
    assert await code_of(heartbeat) is ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(KafkaError, match="UNSUPPORTED_VERSION"):
        setup.groups.describe_consumer("g")


async def test_a_group_of_the_consumer_protocol_has_a_name(consumers: Setup) -> None:
    nameless = consumers.groups.consumer_heartbeat("", consumer_joining("a"))
    assert await code_of(nameless) is ErrorCode.INVALID_REQUEST


async def test_new_consumers_have_short_ids(setup: Setup) -> None:
    assert setup.groups.new_consumer_id() == "AAECAwQFBgcICQoLDA0ODw"
