"""Records become batches, by size and by time, within bounds."""

import pytest

from moldau.client.accumulator import Accumulator, OutgoingRecord
from moldau.client.settings import ProducerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
RECORD = OutgoingRecord(0, b"k", b"v" * 99)  # 121 bytes with what surrounds it


def accumulator(**settings: int) -> Accumulator:
    chosen = {"linger_ms": 10, "batch_size": 400, "buffer_memory": 1000, **settings}
    return Accumulator(read_settings(ProducerSettings, {"bootstrap.servers": "a:1"}, chosen))


@pytest.fixture
def collecting() -> Accumulator:
    return accumulator()


def ready(of: Accumulator, now_ms: int) -> list[TopicPartition]:
    return [batches.partition for batches in of.ready(now_ms=now_ms)]


def test_a_batch_waits_for_its_linger(collecting: Accumulator) -> None:
    assert collecting.append(T0, RECORD, None, now_ms=0)
    assert not collecting.append(T0, RECORD, None, now_ms=5)
    assert ready(collecting, 9) == []
    assert collecting.next_deadline_ms() == 10
    assert ready(collecting, 10) == [T0]


def test_a_full_batch_waits_for_nothing(collecting: Accumulator) -> None:
    appended = [collecting.append(T0, RECORD, None, now_ms=0) for _ in range(3)]
    assert appended == [True, False, True]
    assert ready(collecting, 0) == [T0]
    assert len(list(collecting)) == 2


def test_a_record_larger_than_a_batch_has_one_of_its_own(collecting: Accumulator) -> None:
    collecting.append(T0, OutgoingRecord(0, None, b"v" * 500), None, now_ms=0)
    assert ready(collecting, 0) == [T0]


def test_flushing_makes_everything_ready(collecting: Accumulator) -> None:
    collecting.append(T0, RECORD, None, now_ms=0)
    collecting.append(T1, RECORD, None, now_ms=0)
    collecting.flushing_count += 1
    assert ready(collecting, 0) == [T0, T1]


def test_the_buffer_is_bounded_until_batches_are_settled(collecting: Accumulator) -> None:
    for _ in range(8):
        assert collecting.has_room(RECORD.size_bytes)
        collecting.append(T0, RECORD, None, now_ms=0)
    assert not collecting.has_room(RECORD.size_bytes)
    batch = collecting[T0].take(None)
    collecting[T0].leave(batch)
    assert not collecting.has_room(RECORD.size_bytes)
    collecting.release(batch)
    assert collecting.has_room(RECORD.size_bytes)


def test_what_expires_gives_its_room_back(collecting: Accumulator) -> None:
    collecting.append(T0, RECORD, None, now_ms=0)
    assert collecting.expire(now_ms=119_999) == []
    assert len(collecting.expire(now_ms=120_000)) == 1
    assert collecting.used_bytes == 0
    assert collecting.next_deadline_ms() is None


def test_a_retry_waits_for_its_backoff_even_when_flushing(collecting: Accumulator) -> None:
    collecting.append(T0, RECORD, None, now_ms=0)
    collecting.flushing_count += 1
    batch = collecting[T0].take(None)
    collecting[T0].retry(batch, KafkaError(ErrorCode.NETWORK_EXCEPTION), ready_ms=100)
    assert ready(collecting, 99) == []
    assert ready(collecting, 100) == [T0]


def test_headers_are_kept_with_their_row(collecting: Accumulator) -> None:
    with_headers = OutgoingRecord(0, None, None, (("a", b"1"), ("b", None)))
    collecting.append(T0, RECORD, None, now_ms=0)
    collecting.append(T0, with_headers, None, now_ms=0)
    (batch,) = collecting
    assert batch.rows.headers == {1: with_headers.headers}
    assert with_headers.size_bytes > OutgoingRecord(0, None, None).size_bytes
