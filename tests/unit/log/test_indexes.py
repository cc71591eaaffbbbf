"""The indexes of a segment are written and read back together."""

import pytest

from moldau.log.index import CorruptIndex
from moldau.log.indexes import Indexes
from moldau.log.time_index import TimestampOffset
from moldau.log.transaction_index import AbortedTransaction
from moldau.records.batch import BatchHeader
from moldau.testing.disk import MemoryDisk
from unit.log.logs import batch

ABORTED = AbortedTransaction(7, 1, 3, 4)


def path_of(kind: str) -> str:
    return "/segment" + kind


def filled() -> Indexes:
    indexes = Indexes(0)
    for number in range(3):
        header = BatchHeader.read(batch())
        header.base_offset = number
        indexes.add(number * 100, header, TimestampOffset(1000 + number, number), 0)
    return indexes


def test_what_is_written_is_read_back() -> None:
    disk = MemoryDisk()
    indexes = filled()
    indexes.add_aborted(ABORTED)
    assert len(indexes.write(disk, path_of)) == 3
    assert not indexes.has_changed
    again = Indexes(0)
    again.load_positions(disk, path_of, log_size=300)
    again.load_transactions(disk, path_of(".txnindex"))
    assert again.offsets.entry(1) == (2, 200)
    assert again.times.last == (1002, 2)
    assert again.transactions.entry(0) == ABORTED
    assert not again.has_changed


def test_no_transaction_index_is_written_where_none_was_aborted() -> None:
    disk = MemoryDisk()
    assert len(filled().write(disk, path_of)) == 2
    assert disk.status("/segment.txnindex") is None


def test_writing_again_adds_what_is_new_and_cuts_what_is_gone() -> None:
    disk = MemoryDisk()
    indexes = filled()
    indexes.write(disk, path_of)
    indexes.truncate_to(2)
    assert indexes.has_changed
    indexes.write(disk, path_of)
    assert len(disk.read_file("/segment.index")) == 8
    indexes.add_last(TimestampOffset(5000, 9))
    indexes.write(disk, path_of)
    assert len(disk.read_file("/segment.timeindex")) == 24


def test_an_index_past_the_end_of_its_segment_is_corrupt() -> None:
    disk = MemoryDisk()
    filled().write(disk, path_of)
    with pytest.raises(CorruptIndex):
        Indexes(0).load_positions(disk, path_of, log_size=200)


def test_forgetting_positions_keeps_the_aborted_transactions() -> None:
    indexes = filled()
    indexes.add_aborted(ABORTED)
    indexes.forget_positions()
    assert (len(indexes.offsets), len(indexes.times), len(indexes.transactions)) == (0, 0, 1)


def test_either_index_can_be_full() -> None:
    assert filled().is_full(16)
    assert filled().is_full(36)
    assert not filled().is_full(48)
