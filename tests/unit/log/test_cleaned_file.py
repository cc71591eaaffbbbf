"""A segment in the making."""

from moldau.log import names
from moldau.log.cleaned_file import CleanedFile
from moldau.log.index import OffsetIndex
from moldau.log.time_index import TimeIndex
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk, lose_all


def new_file(disk: MemoryDisk, *, size: int = 200, interval_bytes: int = 0) -> CleanedFile:
    return CleanedFile(disk, "/p", 100, interval_bytes=interval_bytes, buffer=bytearray(size))


def empty_disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory("/p")
    disk.sync_directory("/")
    return disk


def path(kind: str) -> str:
    return f"/p/00000000000000000100{kind}.cleaned"


def batch(offset: int, timestamp: int) -> bytes:
    return bytes(write_batch([Record(offset, timestamp, b"k", b"v")], base_offset=offset))


def test_batches_are_indexed_where_they_are_in_the_file() -> None:
    disk = empty_disk()
    file = new_file(disk)
    batches = [batch(100 + number, 1000 + number) for number in range(10)]

    for number, data in enumerate(batches):
        if not file.output.has_room(len(data)):
            file.make_room(len(data))
        file.output.add(memoryview(data), 100 + number, 1000 + number)
    file.finish(modified_ms=77)

    after = disk.restart(lose_all)
    size = len(batches[0])
    assert after.read_file(path(names.LOG)) == b"".join(batches)
    offsets = OffsetIndex(100, after.read_file(path(names.OFFSET_INDEX)))
    assert [offsets.entry(n) for n in range(len(offsets))] == [
        (100 + number, number * size) for number in range(1, 10)
    ]
    times = TimeIndex(100, after.read_file(path(names.TIME_INDEX)))
    assert times.entry(0) == (1001, 101)
    assert times.last == (1009, 109)
    assert after.status(path(names.TRANSACTION_INDEX)) is None
    status = after.status(path(names.LOG))
    assert status is not None
    assert status.modified_ms == 77
    assert file.size == 10 * size


def test_the_largest_timestamp_is_indexed_even_if_no_interval_went_by() -> None:
    disk = empty_disk()
    file = new_file(disk, interval_bytes=10_000)

    file.output.add(memoryview(batch(100, 50)), 100, 50)
    file.output.add(memoryview(batch(101, 40)), 101, 40)
    file.finish(modified_ms=0)

    assert TimeIndex(100, disk.read_file(path(names.TIME_INDEX))).last == (50, 100)
    assert disk.read_file(path(names.OFFSET_INDEX)) == b""


def test_a_segment_of_which_nothing_stays_is_empty() -> None:
    disk = empty_disk()

    new_file(disk).finish(modified_ms=0)

    for kind in (names.LOG, names.OFFSET_INDEX, names.TIME_INDEX):
        assert disk.read_file(path(kind)) == b""


def test_a_batch_larger_than_the_buffer_gets_one_of_its_size() -> None:
    disk = empty_disk()
    file = new_file(disk, size=10)
    data = batch(100, 1)

    assert not file.output.has_room(len(data))
    file.make_room(len(data))
    file.output.add(memoryview(data), 100, 1)
    file.finish(modified_ms=0)

    assert disk.read_file(path(names.LOG)) == data


def test_aborted_transactions_that_are_left_are_written() -> None:
    disk = empty_disk()
    file = new_file(disk)
    transaction = AbortedTransaction(1, 100, 105, 106)

    file.add_aborted(transaction)
    file.finish(modified_ms=0)

    index = TransactionIndex(100, disk.read_file(path(names.TRANSACTION_INDEX)))
    assert index.entry(0) == transaction


def test_leftovers_of_an_earlier_attempt_are_overwritten_and_giving_up_leaves_nothing() -> None:
    disk = empty_disk()
    disk.open_append(path(names.LOG)).append(b"leftover")
    disk.open_append(path(names.TRANSACTION_INDEX)).append(b"leftover")

    file = new_file(disk)
    assert disk.read_file(path(names.LOG)) == b""
    file.remove()

    assert disk.list_directory("/p") == []
