"""DescribeProducers: who has written to a partition."""

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    PartitionResponse,
    TopicRequest,
)
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from unit.broker.world import START_MS, World


async def describe(world: World, topic: str, number: int = 0) -> PartitionResponse:
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=[number])]
    )
    response: PartitionResponse = (await world.ask(request, 0)).topics[0].partitions[0]
    return response


async def test_a_producer_is_known_by_its_last_batch(world: World) -> None:
    await world.create_topic("t")
    records = [Record(number, START_MS, None, b"v", ()) for number in range(3)]
    batch = write_batch(records, attributes=TRANSACTIONAL, producer=Producer(7, 2, 0))
    world.partition("t").append(batch, acks=1, now_ms=START_MS)
    response = await describe(world, "t")
    (producer,) = response.active_producers
    assert response.error_code == ErrorCode.NONE
    assert (producer.producer_id, producer.producer_epoch) == (7, 2)
    assert (producer.last_sequence, producer.last_timestamp) == (2, START_MS)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (-1, 0)


async def test_a_partition_without_producers_has_none(world: World) -> None:
    await world.create_topic("t")
    world.append("t", b"plain")
    assert (await describe(world, "t")).active_producers == []


async def test_what_is_not_there_is_refused(world: World) -> None:
    await world.create_topic("t")
    assert (await describe(world, "t", 9)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (await describe(world, "none")).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (await describe(world, "a/b")).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
