"""The filter of compaction, in Python and compiled."""

from array import array
from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.log import cleaner_kernel
from moldau.log.cleaner_kernel import Output, Sieve
from moldau.log.key_map import FULL, MORE, SPECIAL
from moldau.records.batch import (
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    BatchHeader,
    Producer,
    crc_is_valid,
    iterate_headers,
    read_records,
    stamp_log_append_time,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.record import Record

FORMS: dict[str, ModuleType] = {"source": cleaner_kernel}
try:
    _cleaner_kernel = import_module("moldau.log._cleaner_kernel")

    FORMS["compiled"] = _cleaner_kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)

NOW_MS = 1_700_000_000_000
HORIZON_MS = NOW_MS + 86_400_000


class Filter:
    """A sieve with its key map and output, and what came out of it."""

    def __init__(
        self,
        form: str,
        newest: dict[bytes, int],
        *,
        latest_offset: int = 1000,
        kept: tuple[int, ...] = (),
        capacity: int = 10_000,
        now_ms: int = NOW_MS,
        interval_bytes: int = 0,
    ) -> None:
        kernel = FORMS[form]
        keys = kernel.key_map(memoryview(bytearray(24 * 100)).cast("Q"), bytes(16), 90, 0)
        for key, offset in newest.items():
            keys.put_key(key, offset)
        keys.latest_offset = latest_offset
        self.sieve: Sieve = kernel.Sieve(
            keys, memoryview(array("q", kept)), now_ms, now_ms + HORIZON_MS - NOW_MS
        )
        self.target = bytearray(capacity)
        self.marks = memoryview(bytearray(32 * 50)).cast("q")
        self.output: Output = kernel.Output(memoryview(self.target), self.marks, interval_bytes)

    def run(self, chunk: bytes, position: int = 0) -> tuple[int, int]:
        return self.sieve.clean_batches(memoryview(chunk), position, self.output)

    @property
    def out(self) -> bytes:
        return bytes(self.target[: self.output.position])

    def records(self) -> list[Record]:
        return [
            record
            for position, _ in iterate_headers(self.out)
            for record in read_records(self.out, position, limit_bytes=10_000)
        ]


def batch(offset: int, *rows: tuple[bytes | None, bytes | None], timestamp: int = 5000) -> bytes:
    records = [
        Record(offset + n, timestamp + n, key, value, ((b"h", b"%d" % n),))
        for n, (key, value) in enumerate(rows)
    ]
    return bytes(write_batch(records, base_offset=offset, producer=Producer(7, 1, 40)))


@in_both_forms
def test_a_batch_that_stays_whole_is_copied_byte_for_byte(form: str) -> None:
    chunk = batch(0, (b"a", b"1"), (b"b", b"2"))
    sifted = Filter(form, {b"a": 0, b"b": 1})

    assert sifted.run(chunk) == (len(chunk), MORE)
    assert sifted.out == chunk
    assert (sifted.sieve.records_read, sifted.sieve.records_retained) == (2, 2)


@in_both_forms
def test_an_older_record_goes_and_the_batch_keeps_its_place(form: str) -> None:
    chunk = batch(10, (b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", b"4"))
    sifted = Filter(form, {b"a": 12, b"b": 11, b"c": 50})

    sifted.run(chunk)

    before, after = BatchHeader.read(chunk), BatchHeader.read(sifted.out)
    assert [(r.offset, r.timestamp, r.key, r.value) for r in sifted.records()] == [
        (11, 5001, b"b", b"2"),
        (12, 5002, b"a", b"3"),
    ]
    assert sifted.records()[0].headers == ((b"h", b"1"),)
    assert crc_is_valid(sifted.out, 0, after.size)
    assert (after.base_offset, after.last_offset) == (before.base_offset, before.last_offset)
    assert (after.producer_id, after.producer_epoch) == (7, 1)
    assert (after.base_sequence, after.last_sequence) == (40, 43)
    assert (after.record_count, after.max_timestamp) == (2, 5002)


@in_both_forms
def test_a_batch_without_records_left_vanishes_unless_it_is_kept(form: str) -> None:
    first, second = batch(0, (b"a", b"1")), batch(1, (b"a", b"2"))

    gone = Filter(form, {b"a": 9})
    assert gone.run(first + second) == (len(first + second), MORE)
    assert gone.out == b""

    kept = Filter(form, {b"a": 9}, kept=(0, 1, 5))
    assert kept.run(first + second, len(first)) == (len(first), SPECIAL)
    assert kept.sieve.records_read == 0


@in_both_forms
def test_records_without_a_key_go(form: str) -> None:
    sifted = Filter(form, {})

    sifted.run(batch(0, (None, b"1"), (b"a", b"2")))

    assert [record.key for record in sifted.records()] == [b"a"]


@in_both_forms
def test_what_the_map_does_not_cover_stays(form: str) -> None:
    chunk = batch(0, (b"a", b"1"), (b"a", b"2"), (None, b"3"), (b"a", None))
    sifted = Filter(form, {b"a": 7}, latest_offset=0)

    sifted.run(chunk)

    assert [record.offset for record in sifted.records()] == [1, 2, 3]


@in_both_forms
def test_a_tombstone_gets_a_horizon_and_keeps_its_timestamp(form: str) -> None:
    chunk = batch(0, (b"a", None), (b"b", b"2"), timestamp=NOW_MS)
    sifted = Filter(form, {b"a": 0, b"b": 1})

    sifted.run(chunk)

    header = BatchHeader.read(sifted.out)
    assert header.has_delete_horizon
    assert header.base_timestamp == HORIZON_MS
    assert header.max_timestamp == NOW_MS + 1
    assert crc_is_valid(sifted.out, 0, header.size)
    assert sifted.records() == list(read_records(chunk, limit_bytes=1000))


@in_both_forms
def test_a_tombstone_goes_at_its_horizon_and_not_before(form: str) -> None:
    chunk = batch(0, (b"a", None), (b"b", b"2"))
    first = Filter(form, {b"a": 0, b"b": 1})
    first.run(chunk)

    early = Filter(form, {b"a": 0, b"b": 1}, now_ms=HORIZON_MS - 1)
    early.run(first.out)
    assert early.out == first.out

    late = Filter(form, {b"a": 0, b"b": 1}, now_ms=HORIZON_MS)
    late.run(first.out)
    assert [(r.key, r.timestamp) for r in late.records()] == [(b"b", 5001)]
    assert BatchHeader.read(late.out).base_timestamp == HORIZON_MS


@in_both_forms
def test_the_time_of_the_append_stays_the_time_of_all_records(form: str) -> None:
    chunk = bytearray(batch(0, (b"a", b"1"), (b"b", None), (b"c", b"3")))
    stamp_log_append_time(chunk, 0, 9999)
    sifted = Filter(form, {b"a": 5})

    sifted.run(bytes(chunk))

    header = BatchHeader.read(sifted.out)
    assert header.attributes == LOG_APPEND_TIME | DELETE_HORIZON
    assert header.max_timestamp == 9999
    assert [record.timestamp for record in sifted.records()] == [9999, 9999]


@in_both_forms
def test_a_run_stops_when_the_output_is_full_and_goes_on_after_it_is_cleared(form: str) -> None:
    chunk = b"".join(batch(n, (b"%d" % n, b"v" * 100)) for n in range(5))
    sifted = Filter(form, {}, capacity=450)

    position, why = sifted.run(chunk)
    assert why == FULL
    assert 0 < position < len(chunk)
    out = sifted.out
    sifted.output.clear(memoryview(sifted.target))
    while why == FULL:
        position, why = sifted.run(chunk, position)
        out += sifted.out
        sifted.output.clear(memoryview(sifted.target))
    assert out == chunk


@in_both_forms
def test_marks_are_as_far_apart_as_the_interval_says(form: str) -> None:
    batches = [batch(n, (b"%d" % n, b"v"), timestamp=100 - n) for n in range(6)]
    size = len(batches[0])
    sifted = Filter(form, {}, interval_bytes=2 * size - 1)

    sifted.run(b"".join(batches))

    assert sifted.output.mark_count == 2
    assert list(sifted.marks[:8]) == [2 * size, 2, 100, 0, 4 * size, 4, 100, 0]
    assert (sifted.output.largest_timestamp, sifted.output.largest_offset) == (100, 0)


@in_both_forms
def test_a_batch_that_is_added_is_marked_too(form: str) -> None:
    sifted = Filter(form, {})
    whole = batch(3, (b"a", b"1"), (b"b", b"2"))

    sifted.output.add(memoryview(whole), 4, 5001)
    sifted.output.add(memoryview(whole), 9, 5001)

    assert sifted.out == whole * 2
    assert list(sifted.marks[:4]) == [len(whole), 9, 5001, 4]
    assert sifted.output.has_room(10_000 - len(whole) * 2)
    assert not sifted.output.has_room(10_001 - len(whole) * 2)


@in_both_forms
def test_a_run_stops_before_what_is_not_plain(form: str) -> None:
    first = batch(0, (b"a", b"1"))
    second = bytes(write_batch([Record(1, 0, b"b", b"2")], base_offset=1, attributes=Codec.GZIP))

    assert Filter(form, {}).run(first + second) == (len(first), SPECIAL)


@in_both_forms
@pytest.mark.parametrize("section", ["08000000100000", "08000000010900", "0a000000026180"])
def test_a_key_or_value_that_does_not_fit_is_refused(form: str, section: str) -> None:
    header = memoryview(batch(0, (b"a", b"1")))

    with pytest.raises(ProtocolError):
        Filter(form, {}).sieve.select(header, memoryview(bytes.fromhex(section)))


@in_both_forms
@pytest.mark.parametrize("count", [2**31 - 1, -1])
def test_a_count_that_lies_is_refused_before_memory_is_taken(form: str, count: int) -> None:
    chunk = bytearray(batch(0, (b"a", b"1")))
    chunk[57:61] = count.to_bytes(4, "big", signed=True)

    with pytest.raises(ProtocolError, match="records in"):
        Filter(form, {}).run(bytes(chunk))


@in_both_forms
def test_a_damaged_batch_is_not_given_a_new_checksum(form: str) -> None:
    chunk = bytearray(batch(0, (b"a", b"1"), (b"b", b"2")))
    chunk[-1] ^= 0x10

    with pytest.raises(ProtocolError):
        Filter(form, {b"a": 5}).run(bytes(chunk))


rows = st.lists(
    st.tuples(
        st.none() | st.sampled_from([b"a", b"b", b"longer key"]),
        st.none() | st.binary(max_size=200),
    ),
    min_size=1,
    max_size=12,
)


@given(
    batches=st.lists(rows, max_size=5),
    newest=st.dictionaries(st.sampled_from([b"a", b"b", b"longer key"]), st.integers(0, 40)),
    latest_offset=st.integers(-1, 60),
    timestamp=st.integers(-1, 2**45),
)
def test_both_forms_write_the_same_bytes(
    batches: list[list[tuple[bytes | None, bytes | None]]],
    newest: dict[bytes, int],
    latest_offset: int,
    timestamp: int,
) -> None:
    chunk, offset = b"", 0
    for batch_rows in batches:
        chunk += batch(offset, *batch_rows, timestamp=timestamp)
        offset += len(batch_rows)

    outcomes: set[object] = set()
    for form in FORMS:
        sifted = Filter(form, newest, latest_offset=latest_offset)
        ended = sifted.run(chunk)
        marks = bytes(sifted.marks.cast("B")[: sifted.output.mark_count * 32])
        outcomes.add((ended, sifted.out, marks))

    assert len(outcomes) == 1


@given(st.binary(max_size=80), st.integers(0, 6), st.integers(0, 127))
def test_no_bytes_make_it_read_out_of_bounds(section: bytes, count: int, attributes: int) -> None:
    header = bytearray(batch(0, (b"a", b"1")))
    header[22] = attributes & 0x48
    header[57:61] = count.to_bytes(4, "big")
    outcomes: set[object] = set()
    for form in FORMS:
        sieve = Filter(form, {b"a": 3}).sieve
        try:
            sieve.select(memoryview(header), memoryview(section))
            target = memoryview(bytearray(len(section) + 16 * count))
            size = sieve.copy_selected(memoryview(section), -(2**40), target)
            outcomes.add((sieve.retained_count, bytes(target[:size])))
        except ProtocolError:
            outcomes.add("refused")

    assert len(outcomes) == 1
