"""Which batches of a fetch response are read, and where the next fetch goes on."""

from importlib import import_module
from types import ModuleType

import pytest

from moldau.errors import ProtocolError
from moldau.records import fetched as fetched_module
from moldau.records import kernel
from moldau.records.batch import RECORDS_POSITION, TRANSACTIONAL, Producer, stamp, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.fetched import (
    AbortedProducer,
    FetchedBatches,
    Selection,
    StopReason,
    next_offset_after,
)
from moldau.records.record import Record

LIMIT_BYTES = 1 << 20

FORMS: dict[str, ModuleType] = {"source": kernel}
try:
    _kernel = import_module("moldau.records._kernel")

    FORMS["compiled"] = _kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass


@pytest.fixture(params=FORMS, autouse=True)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(fetched_module, "kernel", FORMS[request.param])
    return FORMS[request.param]


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


def read(
    data: bytes, selection: Selection, total_bytes_max: int = LIMIT_BYTES
) -> tuple[list[int], FetchedBatches]:
    """The offsets of the records that are read."""
    fetched = FetchedBatches(
        data, selection, limit_bytes=LIMIT_BYTES, total_bytes_max=total_bytes_max
    )
    cursor = fetched.cursor(checks_crc=selection.check_crc)
    rows = fetched_module.kernel.RowReader(cursor, iter(fetched))
    return [row.offset for row in rows], fetched


def test_batches_before_the_start_are_passed_over() -> None:
    offsets, fetched = read(plain(0) + plain(3) + plain(6), Selection(start_offset=4))
    assert offsets == [4, 5, 6, 7, 8]
    assert (fetched.next_offset, fetched.stop) == (9, StopReason.DATA_END)


def test_reading_stops_at_the_end_offset() -> None:
    data = plain(0) + plain(3) + plain(6)
    offsets, fetched = read(data, Selection(end_offset=5))
    assert offsets == [0, 1, 2, 3, 4]
    assert (fetched.next_offset, fetched.stop) == (5, StopReason.END_OFFSET)
    assert fetched.position == 2 * len(plain(0))


def test_a_partial_batch_at_the_end_is_left_for_the_next_fetch() -> None:
    data = plain(0) + plain(3)[:-1]
    offsets, fetched = read(data, Selection())
    assert offsets == [0, 1, 2]
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
    assert offsets == [0, 1, 2]
    assert (fetched.stop, fetched.position, fetched.next_offset) == (
        StopReason.LEGACY,
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
    aborted = [AbortedProducer(2, 7), AbortedProducer(1, 0)]
    offsets, fetched = read(data, Selection(aborted=aborted))
    assert offsets == [1, 2, 4]
    assert fetched.next_offset == 8


def test_an_abort_before_the_start_offset_still_counts() -> None:
    data = transactional(0, 1) + marker(1, 1, is_commit=False) + transactional(2, 1)
    aborted = [AbortedProducer(1, 0)]
    offsets, _ = read(data, Selection(start_offset=2, aborted=aborted))
    assert offsets == [2]


def test_what_is_left_of_a_selection_knows_only_transactions_that_go_on() -> None:
    data = transactional(0, 1) + marker(1, 1, is_commit=False) + transactional(2, 2)
    aborted = [AbortedProducer(1, 0), AbortedProducer(2, 2), AbortedProducer(3, 9)]
    _, fetched = read(data, Selection(aborted=aborted, end_offset=20))
    left = [AbortedProducer(2, 3), AbortedProducer(3, 9)]
    assert fetched.selection_left == Selection(3, 20, tuple(left))


def test_only_an_abort_ends_an_aborted_transaction() -> None:
    data = transactional(0, 1) + marker(1, 1, is_commit=True) + transactional(2, 1)
    assert read(data, Selection(aborted=[AbortedProducer(1, 0)]))[0] == []


def test_the_checksum_of_a_marker_is_compared_before_it_counts() -> None:
    abort = bytearray(marker(1, 1, is_commit=False))
    abort[20] ^= 1
    data = transactional(0, 1) + abort + transactional(2, 1)
    aborted = [AbortedProducer(1, 0)]
    assert read(data, Selection(aborted=aborted, check_crc=False))[0] == [2]
    with pytest.raises(ProtocolError, match="the batch at offset 1 has a wrong checksum"):
        read(data, Selection(aborted=aborted))


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
    with pytest.raises(ProtocolError):
        read(bytes(data), Selection(check_crc=False))


def test_what_comes_before_a_hostile_header_is_still_read() -> None:
    data = plain(0) + b"\xff" * 8 + plain(3)[8:]
    fetched = FetchedBatches(data, Selection(), limit_bytes=LIMIT_BYTES)
    runs = iter(fetched)
    assert next(runs).batch_count == 1
    with pytest.raises(ProtocolError, match="offsets"):
        next(runs)
    assert (fetched.position, fetched.next_offset) == (len(plain(0)), 3)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_the_checksum_is_compared_unless_it_is_not_wanted(codec: Codec) -> None:
    data = write_batch([Record(0, 0, None, b"v")], attributes=codec)
    data[17] ^= 1
    assert read(bytes(data), Selection(check_crc=False))[0] == [0]
    with pytest.raises(ProtocolError, match="the batch at offset 0 has a wrong checksum"):
        read(bytes(data), Selection())


def test_plain_and_special_batches_are_read_in_their_order() -> None:
    compressed = write_batch([Record(3, 0, None, b"v")], base_offset=3, attributes=Codec.GZIP)
    data = plain(0) + compressed + plain(4) + transactional(7, 1) + plain(8, 1)
    offsets, fetched = read(data, Selection())
    assert offsets == list(range(9))
    assert (fetched.next_offset, fetched.position) == (9, len(data))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_reading_stops_before_the_records_become_too_many(codec: Codec) -> None:
    one = write_batch([Record(0, 0, None, b"v")])
    body_size = len(one) - RECORDS_POSITION
    data, ends = b"", []
    for offset in range(4):
        kept = Codec.NONE if offset % 2 else codec
        data += write_batch([Record(offset, 0, None, b"v")], base_offset=offset, attributes=kept)
        ends.append(len(data))
    for count in (1, 2, 3):
        for total in (body_size * count, body_size * (count + 1) - 1):
            offsets, fetched = read(data, Selection(), total)
            assert offsets == list(range(count))
            assert (fetched.stop, fetched.next_offset) == (StopReason.SIZE_LIMIT, count)
            assert fetched.position == ends[count - 1]
    assert read(data, Selection(), 1)[0] == [0]  # the first is read, however large it is
    assert read(data, Selection(), 4 * body_size)[1].stop is StopReason.DATA_END


def test_the_next_offset_is_known_before_anything_is_read() -> None:
    data = bytes(write_batch([Record(3, 0, None, b"v"), Record(7, 0, None, b"v")]))
    data += bytes(write_batch([Record(9, 0, None, b"v" * 99)], attributes=Codec.GZIP))
    assert next_offset_after(data, Selection(5)) == 10
    assert next_offset_after(data + data[:70], Selection(5)) == 10
    assert next_offset_after(data[:-1], Selection(5)) == 8
    assert next_offset_after(data[:50], Selection(5)) == 5
    assert next_offset_after(b"", Selection(5)) == 5
