"""Records become batches, by size and by time, within bounds."""

import os
import signal

import pytest

from moldau.client.producer.accumulator import Accumulator, OutgoingRecord
from moldau.client.producer.batches import Batch
from moldau.client.settings import ProducerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.building import build
from unit.client.locks import held_elsewhere

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
RECORD = OutgoingRecord(0, b"k", b"v" * 100)  # 110 bytes with what surrounds it


def accumulator(**settings: int) -> Accumulator:
    chosen = {"linger_ms": 10, "batch_size": 400, "buffer_memory": 1000, **settings}
    return Accumulator(read_settings(ProducerSettings, {"bootstrap.servers": "a:1"}, chosen))


@pytest.fixture
def collecting() -> Accumulator:
    return accumulator()


def begin(of: Accumulator, partition: TopicPartition = T0, now_ms: int = 0) -> bool:
    return of.begin(partition, RECORD, partition_count=2, now_ms=now_ms) is not None


def ready(of: Accumulator, now_ms: int) -> list[TopicPartition]:
    return [batches.partition for batches in of.ready(now_ms=now_ms)]


def counts(of: Accumulator) -> list[int]:
    return [batch.records.count for batch in of]


def test_a_batch_waits_for_its_linger(collecting: Accumulator) -> None:
    assert begin(collecting)
    assert begin(collecting, now_ms=5)
    assert ready(collecting, 9) == []
    assert collecting.next_deadline_ms() == 10
    assert ready(collecting, 10) == [T0]


def test_a_batch_that_was_begun_takes_more_without_anybody_waiting(
    collecting: Accumulator,
) -> None:
    assert collecting.append("t", b"v", None, 0, 5, ()) is None
    begin(collecting)
    receipt = collecting.append("t", b"v", None, 0, 5, ())
    assert receipt is not None
    assert (receipt.row, counts(collecting)) == (1, [2])
    collecting.close()
    assert collecting.append("t", b"v", None, 0, 5, ()) is None


def test_a_full_batch_waits_for_nothing(collecting: Accumulator) -> None:
    for _ in range(4):
        begin(collecting)
    assert counts(collecting) == [3, 1]
    assert ready(collecting, 0) == [T0]


def test_a_record_larger_than_a_batch_has_one_of_its_own(collecting: Accumulator) -> None:
    large = OutgoingRecord(0, None, b"v" * 500)
    assert collecting.begin(T0, large, partition_count=1, now_ms=0) is not None
    assert ready(collecting, 0) == [T0]


def test_flushing_makes_everything_ready(collecting: Accumulator) -> None:
    begin(collecting, T0)
    begin(collecting, T1)
    collecting.flushing_count += 1
    assert ready(collecting, 0) == [T0, T1]


def test_a_batch_that_is_taken_takes_no_more(collecting: Accumulator) -> None:
    begin(collecting)
    sent = collecting.take(collecting[T0], None)
    assert collecting.append("t", b"v", None, 0, 5, ()) is None
    begin(collecting)
    assert sent.records.count == 1
    assert counts(collecting) == [1, 1]


def test_the_buffer_is_bounded_until_batches_are_settled(collecting: Accumulator) -> None:
    while begin(collecting):
        assert collecting.used_bytes <= 1000
    assert not collecting.has_room(RECORD.size_bytes)
    batch = collecting.take(collecting[T0], None)
    assert not begin(collecting)
    collecting.leave(batch)
    assert collecting.has_room(RECORD.size_bytes)
    assert begin(collecting)


def test_a_size_is_never_underestimated(collecting: Accumulator) -> None:
    headers = (("a", b"1"), ("ü" * 100, None))
    record = OutgoingRecord(2**62, b"k", b"v", headers)
    collecting.begin(T0, RECORD, partition_count=1, now_ms=0)
    before = collecting.used_bytes
    collecting.begin(T0, record, partition_count=1, now_ms=0)
    assert 0 < collecting.used_bytes - before <= record.size_bytes


def test_what_expires_gives_its_room_back(collecting: Accumulator) -> None:
    begin(collecting)
    assert collecting.expire(now_ms=119_999) == []
    assert len(collecting.expire(now_ms=120_000)) == 1
    assert collecting.used_bytes == 0
    assert collecting.next_deadline_ms() is None
    assert collecting.append("t", b"v", None, 0, 5, ()) is None


def test_a_retry_waits_for_its_backoff_even_when_flushing(collecting: Accumulator) -> None:
    begin(collecting)
    collecting.flushing_count += 1
    batch = collecting.take(collecting[T0], None)
    collecting.retry(batch, KafkaError(ErrorCode.NETWORK_EXCEPTION), ready_ms=100)
    assert ready(collecting, 99) == []
    assert ready(collecting, 100) == [T0]


def test_a_batch_that_is_too_large_is_sent_in_parts(collecting: Accumulator) -> None:
    for _ in range(3):
        begin(collecting)
    before = collecting.used_bytes
    collecting.split(collecting.take(collecting[T0], None))
    assert counts(collecting) == [1, 2]
    assert abs(collecting.used_bytes - before) < 5
    for part in list(collecting):
        assert collecting.take(collecting[T0], None) is part
        collecting.leave(part)
    assert collecting.used_bytes == 0


def test_whole_batches_are_taken_in_their_order(collecting: Accumulator) -> None:
    begin(collecting)
    records = build.RecordBuffer(1000)
    records.append(0, None, b"v" * 100, (), 1000)
    added = collecting.add(T0, records, now_ms=0)
    assert isinstance(added, Batch)
    begin(collecting)
    assert list(collecting)[1] is added
    assert counts(collecting) == [1, 1, 1]
    assert ready(collecting, 0) == [T0]


def test_records_without_a_key_stick_to_a_partition(collecting: Accumulator) -> None:
    assert collecting.sticky_partition("t") is None
    collecting.stick_to("t", 1, 2)
    assert collecting.sticky_partition("t") == 1
    begin(collecting, T1)
    receipt = collecting.append("t", b"v", None, None, 5, ())
    assert receipt is not None
    assert receipt.batch.partition == T1


def test_a_topic_may_grow(collecting: Accumulator) -> None:
    begin(collecting, T1)
    collecting.stick_to("t", 4, 5)
    assert collecting.append("t", b"v", None, 1, 5, ()) is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such thing as a fork here")
def test_after_a_fork_open_batches_take_nothing(collecting: Accumulator) -> None:
    begin(collecting)
    with held_elsewhere(collecting._lock):
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        is_taken = collecting.append("t", b"v", None, 0, 5, ()) is not None
        os._exit(1 if is_taken else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert collecting.append("t", b"v", None, 0, 5, ()) is not None


def test_what_is_abandoned_gives_back_its_memory(collecting: Accumulator) -> None:
    begin(collecting, T0)
    begin(collecting, T1)
    (sent, *_) = collecting.ready(now_ms=10)
    batch = collecting.take(sent, None)
    assert collecting.is_oldest(batch)
    assert len(collecting.abandon()) == 1
    collecting.leave(batch)
    assert collecting.used_bytes == 0
    assert list(collecting) == []


def test_a_batch_that_would_overtake_is_known(collecting: Accumulator) -> None:
    begin(collecting)
    (batches,) = collecting.ready(now_ms=10)
    batch = collecting.take(batches, None)
    assert not collecting.is_overtaking(batch)
    collecting.leave(batch)
