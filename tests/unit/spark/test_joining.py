"""A task writes within a transaction that the driver began."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from moldau.client.arrow.sending import TableColumns, new_records
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.batch import BatchHeader
from moldau.records.building import build_batches
from moldau.spark.joining import JoinedProducer
from moldau.spark.transactions import BatchTransactions
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Fail
from unit.client.topics import create_topic
from unit.spark.in_transactions import committed, sink_options

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


@pytest.fixture
def driver(kafka: EmbeddedBroker) -> Iterator[BatchTransactions]:
    create_topic(kafka, "t", 2)
    driver = BatchTransactions(sink_options(kafka).settings("id"))
    yield driver
    driver.close()


def rows(*values: str) -> pa.RecordBatch:
    return pa.record_batch({"value": list(values)})


def test_two_producers_share_one_transaction(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    settings = sink_options(kafka).settings("id")
    identity = driver.begin()
    for partition, value in ((T0, "a"), (T1, "b")):
        with JoinedProducer(settings, identity) as producer:
            assert producer.send(partition, rows(value), TableColumns()).result(10) == 1
    assert committed(kafka, "t") == []
    driver.commit(0, [T0, T1])
    assert committed(kafka, "t") == [b"a", b"b"]


def test_the_first_batch_goes_alone_until_it_is_stored(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    sequences: list[int] = []

    def refuse_twice(call: Call) -> Action:
        (topic,) = call.request.topic_data
        (data,) = topic.partition_data
        sequences.append(BatchHeader.read(data.records).base_sequence)
        return Fail(ErrorCode.NOT_ENOUGH_REPLICAS) if len(sequences) <= 2 else None

    kafka.control("Produce", refuse_twice)
    with JoinedProducer(sink_options(kafka).settings("id"), driver.begin()) as producer:
        sent = [producer.send(T0, rows(f"v{number}"), TableColumns()) for number in range(4)]
        assert [each.result(10) for each in sent] == [1] * 4
    assert sequences[:3] == [0, 0, 0]
    assert sorted(sequences[3:]) == [1, 2, 3]
    driver.commit(0, [T0])
    assert committed(kafka, "t") == [b"v0", b"v1", b"v2", b"v3"]


def test_a_task_of_an_older_epoch_cannot_write_any_more(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    settings = sink_options(kafka).settings("id")
    with JoinedProducer(settings, driver.begin()) as late:
        late.send(T0, rows("old"), TableColumns()).result(10)
        identity = driver.begin()
        with pytest.raises(KafkaError):
            late.send(T0, rows("too late"), TableColumns()).result(10)
    with JoinedProducer(settings, identity) as producer:
        producer.send(T0, rows("new"), TableColumns()).result(10)
    driver.commit(0, [T0])
    assert committed(kafka, "t") == [b"new"]


def test_a_batch_that_was_encoded_before_is_sent_as_it_is(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    settings = sink_options(kafka, **{"kafka.compression.type": "gzip"}).settings("id")
    records = new_records(rows("a", "b"), TableColumns(), 7)
    (built,) = build_batches(records, 1 << 14)
    with JoinedProducer(settings, driver.begin()) as producer:
        assert producer.send_batch(T1, built).result(10) == 2
        with pytest.raises(KafkaError, match="t has no partition 2; it has 2"):
            producer.send_batch(TopicPartition("t", 2), built)
    driver.commit(0, [T1])
    assert committed(kafka, "t") == [b"a", b"b"]
