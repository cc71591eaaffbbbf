"""What of a leader's answer may be appended."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import BatchHeader, write_batch
from moldau.records.record import Record
from moldau.replication.fetched import checked_batches


def batch(value: bytes) -> bytearray:
    return write_batch([Record(0, 1_000, None, value, ())])


def test_whole_batches_are_taken_and_a_cut_one_is_left() -> None:
    first, second = batch(b"first"), batch(b"second")
    assert checked_batches(first + second)[0] == first + second
    data, batches = checked_batches(first + second[:-1])
    assert (bytes(data), batches) == (bytes(first), [(BatchHeader.read(first), None)])
    assert checked_batches(first[:20]) == (memoryview(b""), [])
    assert checked_batches(b"") == (memoryview(b""), [])


def test_a_damaged_batch_is_refused() -> None:
    damaged = batch(b"first")
    damaged[-2] ^= 1
    with pytest.raises(KafkaError) as caught:
        checked_batches(damaged)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_what_is_no_batch_is_refused() -> None:
    with pytest.raises(KafkaError) as caught:
        checked_batches(bytes(100))
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE
