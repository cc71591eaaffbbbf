"""Which batches of a fetch response are read, and where the next fetch goes on."""

import pytest

from moldau.errors import ProtocolError
from moldau.records.batch import TRANSACTIONAL, Producer, stamp, write_batch
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.fetched import (
    AbortedTransaction,
    Entrance,
    FetchedBatches,
    Selection,
    Stop,
)
from moldau.records.record import Record

LIMIT_BYTES = 1 << 20


def plain(base_offset: int, count: int = 3) -> bytes:
    return bytes(
        write_batch(
            [Record(base_offset + delta, 0, None, b"v") for delta in range(count)],
            base_offset=base_offset,
        )
    )


def transactional(base_offset: int, producer_id: int) -> bytes:
    return bytes(
        write_batch(
            [Record(base_offset, 0, None, b"v")],
            base_offset=base_offset,
            attributes=TRANSACTIONAL,
            producer=Producer(producer_id, 0, 0),
        )
    )


def marker(base_offset: int, producer_id: int, *, is_commit: bool) -> bytes:
    batch = write_end_marker(
        EndMarker(is_commit, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=0
    )
    stamp(batch, 0, base_offset=base_offset, leader_epoch=0)
    return bytes(batch)


def read(data: bytes, selection: Selection) -> tuple[list[int], FetchedBatches]:
    fetched = FetchedBatches(data, selection, limit_bytes=LIMIT_BYTES)
    return [batch.header.base_offset for batch in fetched], fetched


def test_batches_before_the_start_are_passed_over() -> None:
    offsets, fetched = read(plain(0) + plain(3) + plain(6), Selection(start_offset=4))
    assert offsets == [3, 6]
    assert (fetched.next_offset, fetched.stop) == (9, Stop.DATA_END)


def test_reading_stops_at_the_end_offset() -> None:
    data = plain(0) + plain(3) + plain(6)
    offsets, fetched = read(data, Selection(end_offset=5))
    assert offsets == [0, 3]
    assert (fetched.next_offset, fetched.stop) == (5, Stop.END_OFFSET)
    assert fetched.position == 2 * len(plain(0))


def test_a_partial_batch_at_the_end_is_left_for_the_next_fetch() -> None:
    data = plain(0) + plain(3)[:-1]
    offsets, fetched = read(data, Selection())
    assert offsets == [0]
    assert (fetched.next_offset, fetched.position) == (3, len(plain(0)))


def test_offsets_advance_over_what_compaction_has_removed() -> None:
    compacted = write_batch([Record(7, 0, None, b"v"), Record(9, 0, None, b"v")], base_offset=5)
    _, fetched = read(bytes(compacted), Selection())
    assert fetched.next_offset == 10


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_are_left_to_their_own_reader(magic: int) -> None:
    old = bytearray(plain(3))
    old[16] = magic
    offsets, fetched = read(plain(0) + old, Selection())
    assert offsets == [0]
    assert (fetched.stop, fetched.position, fetched.next_offset) == (
        Stop.LEGACY,
        len(plain(0)),
        3,
    )


def test_markers_are_not_read_but_count() -> None:
    offsets, fetched = read(transactional(0, 9) + marker(1, 9, is_commit=True), Selection())
    assert offsets == [0]
    assert fetched.next_offset == 2


def test_aborted_transactions_are_not_read() -> None:
    data = (
        transactional(0, 1)  # aborted
        + transactional(1, 2)  # committed
        + plain(2, 1)
        + marker(3, 1, is_commit=False)
        + transactional(4, 1)  # the same producer's next transaction, committed
        + marker(5, 2, is_commit=True)
        + marker(6, 1, is_commit=True)
        + transactional(7, 2)  # aborted: the marker is not yet fetched
    )
    aborted = [AbortedTransaction(2, 7), AbortedTransaction(1, 0)]
    offsets, fetched = read(data, Selection(aborted=aborted))
    assert offsets == [1, 2, 4]
    assert fetched.next_offset == 8


def test_an_abort_before_the_start_offset_still_counts() -> None:
    data = transactional(0, 1) + marker(1, 1, is_commit=False) + transactional(2, 1)
    aborted = [AbortedTransaction(1, 0)]
    offsets, _ = read(data, Selection(start_offset=2, aborted=aborted))
    assert offsets == [2]


def test_without_a_list_of_aborted_transactions_all_are_read() -> None:
    data = transactional(0, 1) + marker(1, 1, is_commit=False)
    assert read(data, Selection())[0] == [0]


@pytest.mark.parametrize(
    ("position", "changed"),
    [
        (0, b"\xff" * 8),  # base offset -1
        (0, b"\x7f" + b"\xff" * 7),  # the last offset would be past int64
        (8, b"\x00\x00\x00\x30"),  # length 48, below the header's own
        (8, b"\xff\xff\xff\xff"),
        (16, b"\x03"),  # magic
        (23, b"\xff\xff\xff\xff"),  # last offset delta -1
        (22, b"\x05"),  # a codec that does not exist
        (57, b"\x7f\xff\xff\xff"),  # record count
        (57, b"\xff\xff\xff\xff"),
    ],
)
def test_hostile_headers_are_refused(position: int, changed: bytes) -> None:
    data = bytearray(plain(0))
    data[position : position + len(changed)] = changed
    selection = Selection(check_crc=False)
    fetched = FetchedBatches(data, selection, limit_bytes=LIMIT_BYTES)
    with pytest.raises(ProtocolError):
        list(map(Entrance(selection).enter, fetched))


def test_the_checksum_is_compared_when_asked() -> None:
    data = bytearray(plain(0))
    data[-1] ^= 1
    for check_crc in (True, False):
        fetched = FetchedBatches(data, Selection(check_crc=check_crc), limit_bytes=LIMIT_BYTES)
        [batch] = fetched
        if check_crc:
            with pytest.raises(ProtocolError, match="checksum"):
                fetched.check(batch)
        else:
            fetched.check(batch)
