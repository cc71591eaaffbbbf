"""What was sent is waited for, and what is lost is told."""

import pytest

from moldau.client.producer.batches import Batch
from moldau.client.producer.sent_table import SentTable
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.building import BuiltRecords
from moldau.spark.deliveries import Deliveries


def sent() -> tuple[SentTable, Batch]:
    records = BuiltRecords(memoryview(bytearray(100)), 1, 0, 0)
    batch = Batch(TopicPartition("t", 0), records, deadline_ms=0)
    table = SentTable()
    table.add(batch)
    return table, batch


def test_a_loss_is_told_when_the_next_table_is_added() -> None:
    deliveries = Deliveries()
    lost, batch = sent()
    deliveries.add(lost)
    batch.fail(KafkaError(ErrorCode.MESSAGE_TOO_LARGE, "too large"))
    with pytest.raises(KafkaError, match="too large"):
        deliveries.add(sent()[0])


def test_the_end_waits_for_all() -> None:
    deliveries = Deliveries()
    for _ in range(3):
        table, batch = sent()
        deliveries.add(table)
        batch.deliver(0, -1)
    deliveries.finish()
    lost, batch = sent()
    deliveries.add(lost)
    batch.fail(KafkaError(ErrorCode.REQUEST_TIMED_OUT, "too late"))
    with pytest.raises(KafkaError, match="too late"):
        deliveries.finish()
