"""Produce: what is appended, what is refused, and when the answer leaves."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.errors import ErrorCode
from moldau.metadata.image import BrokerEndpoint, BrokerNode
from moldau.model import TopicPartition
from moldau.net.answer import CloseConnection, Later, Promised
from moldau.protocol.messages.produce import PartitionProduceData, TopicProduceData
from moldau.records.batch import Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.legacy import write_message_set
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from unit.broker.sample_requests import (
    NEWEST_PRODUCE,
    as_follower,
    fetch,
    fetch_partition,
    produce,
    produced,
)
from unit.broker.world import (
    CLIENT,
    START_MS,
    World,
    batch_of,
    broker_world,
    frame_of,
    response_of,
    settled,
)

ALL_VERSIONS = range(12)
PRODUCE = 0


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 2)
        yield world


def lead_with_followers(world: World, isr: tuple[int, ...] = (0, 1)) -> None:
    """Make the partition one that two other brokers follow, of whom some are in sync."""
    state = PartitionState(1, 0, 1, isr, 0, (0, 1, 2))
    world.partition("t").lead(state, now_ms=world.clock.now_ms())


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_every_version_appends_and_tells_the_offset(world: World, version: int) -> None:
    world.append("t", b"before")
    records = batch_of(b"a", b"b")
    if version < 3:
        rows = [Record(n, START_MS, None, b"v", ()) for n in range(2)]
        records = bytearray(write_message_set(rows, magic=1, codec=Codec.NONE))
    answer = produced(await world.ask(produce(records), version))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 1)
    assert answer.log_append_time_ms == -1
    assert answer.log_start_offset == (0 if version >= 5 else -1)
    assert world.partition("t").log.high_watermark == 3


async def test_a_request_with_several_partitions_is_answered_for_each(world: World) -> None:
    request = produce(batch_of(b"a"))
    request.topic_data[0].partition_data.append(
        PartitionProduceData(index=7, records=batch_of(b"a"))
    )
    request.topic_data.append(
        TopicProduceData(
            name="nowhere", partition_data=[PartitionProduceData(index=0, records=batch_of(b"a"))]
        )
    )
    response = await world.ask(request, 9)
    codes = [[one.error_code for one in topic.partition_responses] for topic in response.responses]
    assert codes == [[0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION], [3]]


async def test_unknown_topics_make_no_counters(world: World) -> None:
    await world.ask(produce(batch_of(b"a"), topic="nowhere"), 9)
    assert "nowhere" not in world.broker.metrics.text()


@pytest.mark.parametrize("acks", [2, -2])
async def test_other_acks_than_three_are_refused(world: World, acks: int) -> None:
    answer = produced(await world.ask(produce(batch_of(b"a"), acks=acks), 9))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.INVALID_REQUIRED_ACKS, -1)
    assert world.partition("t").log.log_end_offset == 0


async def test_without_acks_there_is_no_answer(world: World) -> None:
    assert await world.ask(produce(batch_of(b"a"), acks=0), 9) is None
    assert world.partition("t").log.log_end_offset == 1


async def test_without_acks_an_error_closes_the_connection(world: World) -> None:
    with pytest.raises(CloseConnection, match="UNKNOWN_TOPIC_OR_PARTITION"):
        await world.ask(produce(batch_of(b"a"), acks=0, topic="nowhere"), 9)


async def test_internal_topics_are_for_the_admin_client_alone(world: World) -> None:
    await world.create_topic("__consumer_offsets")
    request = produce(batch_of(b"a"), topic="__consumer_offsets")
    answer = produced(await world.ask(request, 9))
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    keyed = write_batch([Record(0, START_MS, b"k", b"v", ())])
    request = produce(keyed, topic="__consumer_offsets")
    answer = produced(await world.ask(request, 9, client_id="__admin_client"))
    assert answer.error_code == ErrorCode.NONE


async def test_a_broker_that_does_not_lead_says_who_does(world: World) -> None:
    state = PartitionState(1, 5, 4, (5,), 0, (0, 5))
    world.partition("t").follow(state)
    image = world.broker.metadata.image
    brokers = {**image.brokers, 5: BrokerNode(5, {"PLAINTEXT": BrokerEndpoint("five", 95)}, "r")}
    topic = image.topics["t"]
    moved = topic.partitions[0]._replace(leader=5, leader_epoch=4)
    topics = {"t": type(topic)("t", topic.topic_id, {0: moved})}
    world.broker.metadata.image = type(image)(0, brokers, topics, image.names_by_id)
    for version in (9, 10, 11):
        response = await world.ask(produce(batch_of(b"a")), version)
        answer = produced(response)
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        if version < 10:
            assert answer.current_leader is None
            continue
        assert answer.current_leader is not None
        assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (5, 4)
        (node,) = response.node_endpoints
        assert (node.node_id, node.host, node.port, node.rack) == (5, "five", 95, "r")


@pytest.mark.parametrize(("version", "tells"), [(7, False), (8, True), (11, True)])
async def test_refused_records_are_named_since_version_8(
    world: World, version: int, tells: bool
) -> None:
    await world.create_topic("c", overrides={"cleanup.policy": "compact"})
    answer = produced(await world.ask(produce(batch_of(b"no key"), topic="c"), version))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [one.batch_index for one in answer.record_errors] == ([0] if tells else [])
    assert (answer.error_message is not None) == tells


async def test_log_append_time_is_told_and_stored(world: World) -> None:
    await world.create_topic("l", overrides={"message.timestamp.type": "LogAppendTime"})
    world.clock.time_ms = START_MS + 5_000
    answer = produced(await world.ask(produce(batch_of(b"a"), topic="l"), 9))
    assert answer.log_append_time_ms == START_MS + 5_000
    found = world.partition("l").log.offset_of_largest_timestamp()
    assert found is not None
    assert found.timestamp == START_MS + 5_000


async def test_a_batch_that_is_sent_again_gets_its_first_answer(world: World) -> None:
    def batch() -> bytearray:
        rows = [Record(n, START_MS - 9, None, b"v", ()) for n in range(2)]
        return write_batch(rows, producer=Producer(7, 0, 0))

    world.append("t", b"before")
    first = produced(await world.ask(produce(batch()), 9))
    again = produced(await world.ask(produce(batch()), 9))
    assert (first.base_offset, again.base_offset) == (1, 1)
    assert (first.log_append_time_ms, again.log_append_time_ms) == (-1, START_MS - 9)
    assert world.partition("t").log.log_end_offset == 3


async def test_acks_all_waits_until_those_in_sync_have_the_records(world: World) -> None:
    lead_with_followers(world)
    request = produce(batch_of(b"a", b"b"), acks=-1, timeout_ms=60_000)
    asking = await world.park(request, 9)
    reading = as_follower(fetch(fetch_partition(offset=2, epoch=1), max_wait_ms=60_000), 1, 12)
    parked = asyncio.create_task(world.ask(reading, 12))
    # The follower's own request goes on waiting: its news must not wait with it.
    answer = produced(await asking)
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert not parked.done()
    parked.cancel()


async def test_what_waits_for_others_has_been_appended_and_lets_the_next_begin(
    world: World,
) -> None:
    lead_with_followers(world)
    answers = []
    for value in (b"a", b"b"):
        frame = frame_of(produce(batch_of(value), acks=-1, timeout_ms=60_000), 9)
        answers.append(world.begin(CLIENT, frame))
    assert world.partition("t").log.log_end_offset == 2
    assert all(isinstance(answer, Later | Promised) for answer in answers)
    waiting = [asyncio.create_task(settled(answer)) for answer in answers]
    await asyncio.sleep(0)
    world.partition("t").follow(PartitionState(1, 1, 2, (1,), 0, (0, 1, 2)))
    world.broker.waiters.wake(TopicPartition("t", 0))
    for parts in waiting:
        response = response_of(await parts, PRODUCE, 9)
        assert produced(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_acks_all_times_out_and_leaves_the_records(world: World) -> None:
    lead_with_followers(world)
    answer = produced(await world.ask(produce(batch_of(b"a"), acks=-1, timeout_ms=1), 9))
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answer.base_offset == 0
    assert world.partition("t").log.log_end_offset == 1


async def test_acks_all_hears_that_the_leader_has_changed(world: World) -> None:
    lead_with_followers(world)
    asking = await world.park(produce(batch_of(b"a"), acks=-1, timeout_ms=60_000), 9)
    world.partition("t").follow(PartitionState(1, 1, 2, (1,), 0, (0, 1, 2)))
    world.broker.waiters.wake(TopicPartition("t", 0))
    assert produced(await asking).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_acks_all_hears_that_too_few_stayed_in_sync(world: World) -> None:
    await world.create_topic("m", overrides={"min.insync.replicas": "2"})
    partition = world.partition("m")
    partition.lead(PartitionState(1, 0, 1, (0, 1), 0, (0, 1)), now_ms=START_MS)
    asking = await world.park(produce(batch_of(b"a"), topic="m", acks=-1, timeout_ms=60_000), 9)
    partition.log.raise_high_watermark(1)
    partition.state = partition.state._replace(isr=(0,))
    world.broker.waiters.wake(partition.topic_partition)
    answer = produced(await asking)
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert answer.base_offset == 0


async def test_acks_all_needs_enough_in_sync(world: World) -> None:
    await world.create_topic("m", overrides={"min.insync.replicas": "2"})
    state = PartitionState(1, 0, 1, (0,), 0, (0, 1))
    world.partition("m").lead(state, now_ms=START_MS)
    answer = produced(await world.ask(produce(batch_of(b"a"), topic="m", acks=-1), 9))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert world.partition("m").log.log_end_offset == 0
    answer = produced(await world.ask(produce(batch_of(b"a"), topic="m", acks=1), 9))
    assert answer.error_code == ErrorCode.NONE


async def test_a_failing_disk_concerns_its_own_partitions() -> None:
    async with broker_world({"log.dirs": "/one,/two"}) as world:
        await world.create_topic("t", 2)
        first, second = world.partition("t", 0), world.partition("t", 1)
        assert first.log.folder.volume is not second.log.folder.volume
        world.disk.fail_call(1)
        answer = produced(await world.ask(produce(batch_of(b"a"), number=0), 9))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        answer = produced(await world.ask(produce(batch_of(b"a"), number=0), 9))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        answer = produced(await world.ask(produce(batch_of(b"a"), number=1), 9))
        assert answer.error_code == ErrorCode.NONE


async def test_an_unforeseen_failure_is_told_for_every_partition(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.broker.replicas = None  # type: ignore[assignment]
    answer = produced(await world.ask(produce(batch_of(b"a")), NEWEST_PRODUCE))
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    with pytest.raises(CloseConnection):
        await world.ask(produce(batch_of(b"a"), acks=0), NEWEST_PRODUCE)
    assert "Produce from 10.0.0.9 failed" in caplog.text


async def test_traffic_is_counted_by_topic_and_in_all(world: World) -> None:
    records = batch_of(b"a", b"b")
    size = len(records)
    await world.ask(produce(records), 9)
    await world.ask(produce(batch_of(b"a"), number=9), 9)
    traffic = world.broker.traffic
    for counters in (traffic.of("t"), traffic.all):
        assert (counters.messages_in.value, counters.bytes_in.value) == (2, size)
        assert counters.failed_produce_requests.value == 1
