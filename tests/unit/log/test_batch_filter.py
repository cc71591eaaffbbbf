"""What stays of batches that are not plain, in Python and compiled."""

from importlib import import_module
from types import ModuleType

import pytest

from moldau.errors import ProtocolError
from moldau.log import batch_filter as batch_filter_module
from moldau.log import cleaned_file, cleaner_kernel
from moldau.log.batch_filter import BatchFilter
from moldau.log.cleaned_file import CleanedFile
from moldau.log.cleaning_plan import CleaningPlan
from moldau.log.producer_state import LastRecord
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex
from moldau.records.batch import (
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    iterate_headers,
    read_records,
    stamp,
    stamp_log_append_time,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record
from moldau.testing.disk import MemoryDisk

FORMS: dict[str, ModuleType] = {"source": cleaner_kernel}
try:
    _cleaner_kernel = import_module("moldau.log._cleaner_kernel")

    FORMS["compiled"] = _cleaner_kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass

NOW_MS = 1_700_000_000_000


@pytest.fixture(params=FORMS)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Either form of the kernel, for all that use one."""
    form = FORMS[request.param]
    monkeypatch.setattr(batch_filter_module, "kernel", form)
    monkeypatch.setattr(cleaned_file, "kernel", form)
    return form


def data(
    offset: int, *keys: bytes, pid: int = -1, attributes: int = 0, value: bytes | None = b"value"
) -> bytes:
    records = [Record(offset + n, NOW_MS, key, value) for n, key in enumerate(keys)]
    producer = Producer(pid, 0, offset) if pid >= 0 else Producer(-1, -1, -1)
    return bytes(write_batch(records, base_offset=offset, attributes=attributes, producer=producer))


def marker(offset: int, *, pid: int, is_commit: bool) -> bytes:
    batch = write_end_marker(
        EndMarker(is_commit, 0), producer_id=pid, producer_epoch=0, timestamp_ms=NOW_MS
    )
    stamp(batch, 0, base_offset=offset, leader_epoch=0)
    return bytes(batch)


def copied(
    kernel: ModuleType,
    chunk: bytes,
    *,
    newest: dict[bytes, int] | None = None,
    aborted: tuple[AbortedTransaction, ...] = (),
    last_records: dict[int, LastRecord] | None = None,
    end_offset: int = 1000,
    now_ms: int = NOW_MS,
    index: list[AbortedTransaction] | None = None,
    counts: list[int] | None = None,
) -> bytes:
    """What is left of `chunk`."""
    keys = kernel.key_map(memoryview(bytearray(240)).cast("Q"), bytes(16), 9, 0)
    for key, offset in (newest or {}).items():
        keys.put_key(key, offset)
    keys.latest_offset = 999
    plan = CleaningPlan(
        folder_path="/p",
        sources=(),
        first_dirty_offset=0,
        first_uncleanable_offset=end_offset,
        aborted=aborted,
        last_records=last_records or {},
        segment_bytes=1 << 20,
        segment_index_bytes=1 << 20,
        index_interval_bytes=0,
        delete_retention_ms=1000,
        truncation_count=0,
        now_ms=now_ms,
    )
    disk = MemoryDisk()
    disk.make_directory("/p")
    target = CleanedFile(disk, "/p", 0, interval_bytes=0, buffer=bytearray(100))
    batch_filter = BatchFilter(plan, keys)
    assert batch_filter.copy(memoryview(chunk), target) == len(chunk)
    target.finish(modified_ms=0)
    if counts is not None:
        counts += [batch_filter.records_read, batch_filter.records_retained]
    if index is not None:
        written = TransactionIndex(0, disk.read_file("/p/00000000000000000000.txnindex.cleaned"))
        index += [written.entry(number) for number in range(len(written))]
    return disk.read_file("/p/00000000000000000000.log.cleaned")


def shape(data: bytes) -> list[tuple[int, list[int]]]:
    """Base offset and record offsets of each batch."""
    return [
        (header.base_offset, [r.offset for r in read_records(data, position, limit_bytes=10_000)])
        for position, header in iterate_headers(data)
    ]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_compressed_batches_are_filtered_among_plain_ones(kernel: ModuleType, codec: Codec) -> None:
    chunk = data(0, b"a", b"b") + data(2, b"a", b"c", attributes=codec) + data(4, b"d")

    left = copied(kernel, chunk, newest={b"a": 50, b"b": 1, b"c": 3})

    assert shape(left) == [(0, [1]), (2, [3]), (4, [4])]


def test_a_compressed_batch_that_stays_whole_is_not_recompressed(kernel: ModuleType) -> None:
    chunk = data(0, b"a", b"b", attributes=Codec.ZSTD)

    assert copied(kernel, chunk) == chunk


def test_a_batch_of_an_aborted_transaction_goes_unless_its_producer_needs_it(
    kernel: ModuleType,
) -> None:
    chunk = data(0, b"a", pid=1, attributes=TRANSACTIONAL) + data(
        1, b"b", pid=1, attributes=TRANSACTIONAL
    )
    aborted = (AbortedTransaction(1, 0, 2, 3),)

    assert copied(kernel, chunk, aborted=aborted) == b""
    left = copied(kernel, chunk, aborted=aborted, last_records={1: LastRecord(1, 0)})
    assert shape(left) == [(1, [])]
    header = BatchHeader.read(left)
    assert header.is_transactional
    assert (header.base_sequence, header.max_timestamp) == (1, NOW_MS)


def test_the_end_of_what_is_cleaned_stays_even_if_empty(kernel: ModuleType) -> None:
    chunk = data(0, b"a") + data(1, b"a", attributes=Codec.LZ4)

    left = copied(kernel, chunk, newest={b"a": 99}, end_offset=2)
    assert shape(left) == [(1, [])]
    assert BatchHeader.read(left).codec is Codec.NONE
    assert shape(copied(kernel, data(0, b"a"), newest={b"a": 99}, end_offset=1)) == [(0, [])]


def test_a_compressed_tombstone_gets_a_horizon(kernel: ModuleType) -> None:
    chunk = data(0, b"a", b"b", attributes=Codec.GZIP, value=None)

    left = copied(kernel, chunk)

    header = BatchHeader.read(left)
    assert header.has_delete_horizon
    assert header.base_timestamp == NOW_MS + 1000
    assert [r.timestamp for r in read_records(left, limit_bytes=1000)] == [NOW_MS, NOW_MS]


def test_a_compressed_batch_keeps_the_time_of_its_append(kernel: ModuleType) -> None:
    chunk = bytearray(data(0, b"a", b"b", attributes=Codec.GZIP))
    stamp_log_append_time(chunk, 0, 777)

    left = copied(kernel, bytes(chunk), newest={b"a": 9})

    assert [(r.offset, r.timestamp) for r in read_records(left, limit_bytes=1000)] == [(1, 777)]


def test_an_abort_marker_stays_with_its_index_entry_while_records_were_met(
    kernel: ModuleType,
) -> None:
    chunk = data(0, b"a", pid=1, attributes=TRANSACTIONAL) + marker(1, pid=1, is_commit=False)
    aborted = (AbortedTransaction(1, 0, 1, 2),)
    index: list[AbortedTransaction] = []

    left = copied(kernel, chunk, aborted=aborted, index=index)

    assert shape(left) == [(1, [1])]
    assert not BatchHeader.read(left).has_delete_horizon
    assert index == list(aborted)


def test_a_marker_gets_a_horizon_waits_for_it_and_goes(kernel: ModuleType) -> None:
    once = copied(kernel, marker(7, pid=1, is_commit=True))
    assert BatchHeader.read(once).base_timestamp == NOW_MS + 1000
    assert [r.timestamp for r in read_records(once, limit_bytes=1000)] == [NOW_MS]

    assert copied(kernel, once, now_ms=NOW_MS + 999) == once
    assert copied(kernel, once, now_ms=NOW_MS + 1000) == b""


@pytest.mark.parametrize(
    ("last_records", "end_offset", "is_kept"),
    [
        ({}, 8, True),
        ({1: LastRecord(None, 0)}, 1000, True),
        ({1: LastRecord(None, 1)}, 1000, False),
        ({1: LastRecord(5, 0)}, 1000, False),
    ],
    ids=["the end", "the epoch", "an older epoch", "the producer has data"],
)
def test_a_marker_that_is_due_leaves_an_empty_batch_where_it_is_needed(
    kernel: ModuleType, last_records: dict[int, LastRecord], end_offset: int, is_kept: bool
) -> None:
    due = copied(kernel, marker(7, pid=1, is_commit=True))

    left = copied(
        kernel, due, now_ms=NOW_MS + 1000, last_records=last_records, end_offset=end_offset
    )

    assert shape(left) == ([(7, [])] if is_kept else [])
    again = copied(kernel, left, last_records=last_records, end_offset=end_offset)
    assert again == left


def test_what_was_seen_is_counted(kernel: ModuleType) -> None:
    counts: list[int] = []

    copied(kernel, data(0, b"a", b"b") + data(2, b"a"), newest={b"a": 2}, counts=counts)

    assert counts == [3, 2]


def test_a_damaged_compressed_batch_is_refused(kernel: ModuleType) -> None:
    chunk = bytearray(data(0, b"a", b"b", attributes=Codec.LZ4))
    chunk[30] ^= 1  # a timestamp: it still decompresses

    with pytest.raises(ProtocolError):
        copied(kernel, bytes(chunk), newest={b"a": 9})


def test_a_batch_larger_than_the_output_is_copied(kernel: ModuleType) -> None:
    chunk = data(0, *[b"%d" % n for n in range(50)]) + data(50, b"x" * 300)

    assert copied(kernel, chunk) == chunk
