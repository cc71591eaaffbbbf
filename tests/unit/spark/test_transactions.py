"""The driver begins and commits transactions, and knows the last batch."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.arrow.sending import TableColumns
from moldau.client.blocking.admin import Admin
from moldau.errors import ErrorCode, KafkaError, RequestTimedOut
from moldau.model import TopicPartition
from moldau.spark.joining import JoinedProducer
from moldau.spark.transactions import NO_BATCH, BatchTransactions
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Action, Call, Fail, Lose
from unit.client.topics import create_topic
from unit.spark.in_transactions import committed, sink_options

T0 = TopicPartition("t", 0)


@pytest.fixture
def driver(kafka: EmbeddedBroker) -> Iterator[BatchTransactions]:
    create_topic(kafka, "t", 3)
    driver = BatchTransactions(sink_options(kafka).settings("id"))
    yield driver
    driver.close()


def write(kafka: EmbeddedBroker, driver: BatchTransactions, value: str) -> None:
    with JoinedProducer(sink_options(kafka).settings("id"), driver.begin()) as producer:
        producer.send(T0, pa.record_batch({"value": [value]}), TableColumns()).result(10)


def test_every_beginning_has_a_new_epoch(driver: BatchTransactions) -> None:
    first, second = driver.begin(), driver.begin()
    assert (second.producer_id, second.epoch) == (first.producer_id, first.epoch + 1)


def test_the_last_batch_is_committed_with_its_rows(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    driver.begin()
    assert driver.last_batch() == NO_BATCH
    for batch_id in (7, 8):
        write(kafka, driver, f"v{batch_id}")
        driver.commit(batch_id, [T0])
        assert driver.last_batch() == batch_id
    assert committed(kafka, "t") == [b"v7", b"v8"]


def test_what_is_not_committed_leaves_no_trace(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    write(kafka, driver, "lost")
    driver.begin()
    assert driver.last_batch() == NO_BATCH
    assert committed(kafka, "t") == []


def test_a_commit_whose_answer_is_lost_is_found_afterwards(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    answers: list[Action] = [Lose()]
    kafka.control("EndTxn", lambda _: answers.pop() if answers else None)
    write(kafka, driver, "v")
    driver.commit(0, [T0])
    other = BatchTransactions(sink_options(kafka).settings("id"))
    other.begin()
    assert other.last_batch() == 0
    other.close()
    assert committed(kafka, "t") == [b"v"]


def test_an_offset_that_is_not_decided_yet_is_waited_for(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    asked: list[bool] = []

    def hesitate(call: Call) -> Action:
        asked.append(call.request.require_stable)
        return Fail(ErrorCode.UNSTABLE_OFFSET_COMMIT) if len(asked) < 3 else None

    kafka.control("OffsetFetch", hesitate)
    assert driver.last_batch() == NO_BATCH
    assert asked == [True] * 4  # for all offsets, and then for every place


def test_patience_has_an_end(kafka: EmbeddedBroker) -> None:
    options = sink_options(kafka, **{"kafka.max.block.ms": "50"})
    driver = BatchTransactions(options.settings("id"))
    kafka.control("OffsetFetch", lambda _: Fail(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    with pytest.raises(RequestTimedOut, match=r"id: .*for 0\.05 s"):
        driver.last_batch()
    kafka.control("OffsetFetch", lambda _: Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(KafkaError, match="GROUP_AUTHORIZATION_FAILED"):
        driver.last_batch()
    driver.close()


def test_an_idle_query_notes_its_last_batch_again(
    kafka: EmbeddedBroker, driver: BatchTransactions
) -> None:
    driver.renew()
    assert driver.last_batch() == NO_BATCH  # there was nothing to renew
    write(kafka, driver, "v")
    driver.commit(6, [TopicPartition("t", 2)])
    driver.renew()
    assert driver.last_batch() == 6
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        offsets = admin.list_group_offsets("id")["id"]
    assert offsets == {T0: CommittedOffset(6, "moldau batch 6")}


def test_the_note_stays_where_it_was(kafka: EmbeddedBroker, driver: BatchTransactions) -> None:
    create_topic(kafka, "a")
    for batch_id, topic in enumerate("ta"):
        driver.begin()
        assert driver.last_batch() == batch_id - 1
        driver.commit(batch_id, [TopicPartition(topic, 0)])
    assert driver.last_batch() == 1
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        offsets = admin.list_group_offsets("id")["id"]
    assert offsets == {T0: CommittedOffset(1, "moldau batch 1")}


def test_partitions_are_counted(driver: BatchTransactions) -> None:
    assert driver.partition_count("t") == 3
