"""The walkers of batches and records, in Python and compiled: nothing unsound gets by."""

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records import kernel
from moldau.records.batch import (
    CONTROL,
    LOG_APPEND_TIME,
    RECORDS_POSITION,
    TRANSACTIONAL,
    stamp,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.record import Record

FORMS: dict[str, ModuleType] = {"source": kernel}
try:
    _kernel = import_module("moldau.records._kernel")

    FORMS["compiled"] = _kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)

Header = tuple[bytes, bytes | None]
Row = tuple[int, bytes | None, bytes | None, list[Header]]

nullable_bytes = st.none() | st.binary(max_size=200)
rows = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        nullable_bytes,
        nullable_bytes,
        st.lists(st.tuples(st.binary(max_size=20), nullable_bytes), max_size=3),
    ),
    max_size=8,
)


def varint(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content


def record(offset_delta: int, row: Row) -> bytes:
    timestamp_delta, key, value, headers = row
    body = bytes(1) + varint(timestamp_delta) + varint(offset_delta) + field(key) + field(value)
    body += varint(len(headers)) + b"".join(field(name) + field(data) for name, data in headers)
    return varint(len(body)) + body


def records(rows: list[Row]) -> bytes:
    return b"".join(record(index, row) for index, row in enumerate(rows))


def check(form: str, body: bytes, count: int) -> tuple[int, int, int, bool]:
    checked: tuple[int, int, int, bool] = FORMS[form].check_records(memoryview(body), count)
    return checked


@in_both_forms
@given(rows=rows)
@example(rows=[])
@example(rows=[(-5, b"", None, []), (-5, b"k", b"", [])])
def test_well_formed_records_are_summed_up(form: str, rows: list[Row]) -> None:
    deltas = [row[0] for row in rows]
    expected = (0, 0, -1)
    if rows:
        expected = (min(deltas), max(deltas), deltas.index(max(deltas)))
    any_null_key = any(row[1] is None for row in rows)
    assert check(form, records(rows), len(rows)) == (*expected, any_null_key)


@in_both_forms
@given(rows=rows.filter(bool))
def test_every_shorter_body_is_refused(form: str, rows: list[Row]) -> None:
    body = records(rows)
    for size in range(len(body)):
        with pytest.raises(ProtocolError):
            check(form, body[:size], len(rows))


@in_both_forms
@pytest.mark.parametrize("count", [0, 1, 3, 2**31 - 1, 2**62])
def test_a_count_that_the_body_does_not_hold_is_refused(form: str, count: int) -> None:
    body = records([(0, None, b"a", []), (1, None, b"b", [])])
    with pytest.raises(ProtocolError):
        check(form, body, count)


@in_both_forms
@pytest.mark.parametrize("offset_deltas", [(1, 2), (0, 2), (0, 0), (-1, 0), (0, 1 + 2**31)])
def test_offset_deltas_must_count_from_zero(form: str, offset_deltas: tuple[int, int]) -> None:
    body = b"".join(record(delta, (0, None, b"", [])) for delta in offset_deltas)
    with pytest.raises(ProtocolError):
        check(form, body, 2)


def framed(body: bytes) -> bytes:
    return varint(len(body)) + body


LONG_ZERO = b"\x80\x80\x80\x80\x80\x00"  # zero in one byte more than a varint may have

HOSTILE = {
    "a record length of minus one": varint(-1),
    "a record length of 2**31 - 1": varint(2**31 - 1) + bytes(20),
    "a record length of -2**31": varint(-(2**31)) + bytes(20),
    "a record without content": varint(0),
    "an endless length": b"\xff" * 20,
    "a length in six bytes": LONG_ZERO,
    "a length of 36 bits": b"\xff\xff\xff\xff\x1f",
    "a key of -2 bytes": framed(bytes(3) + varint(-2) + bytes(3)),
    "a key of 2**31 - 1 bytes": framed(bytes(3) + varint(2**31 - 1) + bytes(3)),
    "a value of -2 bytes": framed(bytes(4) + varint(-2) + bytes(2)),
    "a value of 2**31 - 1 bytes": framed(bytes(4) + varint(2**31 - 1) + bytes(2)),
    "a value that reaches into the next record": framed(bytes(4) + varint(10)) + bytes(20),
    "minus one headers": framed(bytes(5) + varint(-1)),
    "2**31 - 1 headers": framed(bytes(5) + varint(2**31 - 1) + bytes(30)),
    "fewer headers than said": framed(bytes(5) + varint(2) + bytes(2)),
    "more headers than said": framed(bytes(5) + varint(1) + bytes(4)),
    "a null header key": framed(bytes(5) + varint(1) + varint(-1) + varint(0)),
    "a header value of -2 bytes": framed(bytes(5) + varint(1) + varint(0) + varint(-2)),
    "a header key that is too long": framed(bytes(5) + varint(1) + varint(9) + varint(0)),
    "a timestamp in eleven bytes": framed(bytes(1) + b"\x80" * 10 + bytes(5)),
    "a timestamp of 65 bits": framed(bytes(1) + b"\xff" * 9 + b"\x02" + bytes(4)),
    "nothing after the timestamp": framed(bytes(2)) + bytes(5),
    "an offset in six bytes": framed(bytes(2) + LONG_ZERO + bytes(3)),
    "a byte left over in the record": framed(bytes(7)),
    "a byte left over in the body": framed(bytes(6)) + bytes(1),
}


def test_the_hostile_bytes_differ_from_good_ones_only_in_what_they_say() -> None:
    assert kernel.check_records(memoryview(framed(bytes(6))), 1) == (0, 0, 0, False)


@in_both_forms
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_bytes_are_refused(form: str, case: str) -> None:
    with pytest.raises(ProtocolError):
        check(form, HOSTILE[case], 1)


@in_both_forms
@given(rows=rows, timestamp=st.integers(-10, 10), offset=st.integers(0, 5))
@example(rows=[(5, None, None, []), (7, None, None, [])], timestamp=5, offset=1)
def test_the_first_record_of_a_time_is_found(
    form: str, rows: list[Row], timestamp: int, offset: int
) -> None:
    found = [
        (row[0], index) for index, row in enumerate(rows) if row[0] >= timestamp and index >= offset
    ]
    body = memoryview(records(rows))
    assert FORMS[form].find_timestamp(body, len(rows), timestamp, offset) == next(iter(found), None)


@in_both_forms
def test_very_many_records_are_walked_through(form: str) -> None:
    body = records([(0, b"", b"", [])] * 70_000)
    assert check(form, body, 70_000) == (0, 0, 0, False)
    assert FORMS[form].find_timestamp(memoryview(body), 70_000, 1, 0) is None


@in_both_forms
@pytest.mark.parametrize("edge", [-(2**63), -(2**31), -1, 0, 63, 64, 8191, 8192, 2**31, 2**63 - 1])
def test_timestamps_of_every_length(form: str, edge: int) -> None:
    assert check(form, records([(edge, b"", b"", [])]), 1) == (edge, edge, 0, False)


@in_both_forms
@pytest.mark.parametrize("size", [0, 63, 64, 8191, 8192, 1 << 20])
def test_fields_of_every_length(form: str, size: int) -> None:
    content = bytes(size)
    body = records([(0, content, content, [(content, content)])])
    assert check(form, body, 1) == (0, 0, 0, False)


@given(
    rows=rows.filter(bool),
    changes=st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), max_size=4),
)
@pytest.mark.skipif("compiled" not in FORMS, reason="the kernels are not built")
def test_both_forms_judge_changed_bytes_alike(
    rows: list[Row], changes: list[tuple[int, int]]
) -> None:
    body = bytearray(records(rows))
    for place, byte in changes:
        body[place % len(body)] = byte
    verdicts: list[object] = []
    for form in FORMS:
        try:
            verdicts.append(check(form, bytes(body), len(rows)))
        except ProtocolError as error:
            verdicts.append(str(error))
    assert verdicts[0] == verdicts[1]


def batch(base_offset: int, *, attributes: int = 0) -> bytes:
    """Three records in a batch of 100 bytes."""
    rows = [Record(offset, offset, b"k", b"value") for offset in range(3)]
    made = write_batch(rows, attributes=attributes)
    stamp(made, 0, base_offset=base_offset, leader_epoch=7)
    return bytes(made)


SIZE = len(batch(0))
BODY_SIZE = SIZE - RECORDS_POSITION


def find_run(
    form: str,
    data: bytes | bytearray,
    *,
    position: int = 0,
    offsets: range = range(100),
    size_max: int = 1000,
) -> kernel.BatchRun:
    finder = FORMS[form].RunFinder(memoryview(data), offsets.start, offsets.stop, True)
    run: kernel.BatchRun = finder.find(position, size_max)
    return run


def run_of(form: str, data: bytes, **options: Any) -> tuple[int, int, int, int, int]:
    run = find_run(form, data, **options)
    return (run.end, run.batch_count, run.row_count_max, run.size, run.next_offset)


@in_both_forms
def test_a_run_is_all_plain_batches_in_a_row(form: str) -> None:
    data = batch(0) + batch(3) + batch(8, attributes=LOG_APPEND_TIME) + batch(11)[:-1]
    assert run_of(form, data) == (3 * SIZE, 3, 9, 3 * BODY_SIZE, 11)
    assert run_of(form, data, position=SIZE) == (3 * SIZE, 2, 6, 2 * BODY_SIZE, 11)


@in_both_forms
@pytest.mark.parametrize("attributes", [TRANSACTIONAL, CONTROL, TRANSACTIONAL | Codec.GZIP])
def test_a_run_ends_before_a_batch_of_a_transaction(form: str, attributes: int) -> None:
    assert run_of(form, batch(0) + batch(3, attributes=attributes))[:2] == (SIZE, 1)
    assert run_of(form, batch(0, attributes=attributes)) == (0, 0, 0, 0, 0)


@in_both_forms
def test_a_compressed_batch_is_a_run_of_its_own(form: str) -> None:
    compressed = batch(3, attributes=Codec.ZSTD)
    data = batch(0) + compressed + compressed
    assert run_of(form, data)[:2] == (SIZE, 1)
    run = find_run(form, data, position=SIZE, size_max=1)
    assert (run.end, run.batch_count, run.codec) == (SIZE + len(compressed), 1, Codec.ZSTD)
    run.decompress_to(memoryview(batch(3)[RECORDS_POSITION:]))
    assert (run.row_count_max, run.size, run.next_offset) == (3, BODY_SIZE, 6)


@in_both_forms
def test_a_compressed_batch_with_a_wrong_checksum_is_refused(form: str) -> None:
    data = bytearray(batch(0, attributes=Codec.ZSTD))
    data[20] ^= 1
    assert find_run(form, data, offsets=range(3, 100)).batch_count == 0  # it is not wanted
    with pytest.raises(ProtocolError, match="checksum"):
        find_run(form, data)


@in_both_forms
@pytest.mark.parametrize("attributes", [0, TRANSACTIONAL, Codec.ZSTD])
def test_one_batch_may_be_a_run_whatever_it_is(form: str, attributes: int) -> None:
    data = batch(0) + batch(3, attributes=attributes)
    finder = FORMS[form].RunFinder(memoryview(data), 0, 5, True)
    for is_readable in (True, False):
        run = finder.find_one(SIZE, is_readable)
        assert (run.position, run.end, run.batch_count) == (SIZE, len(data), is_readable)
        assert run.next_offset == 5
    assert finder.find_one(len(data) - 1, True).batch_count == 0
    assert finder.find_one(-1, True).batch_count == 0


@in_both_forms
def test_batches_before_the_start_are_in_a_run_but_do_not_count(form: str) -> None:
    data = batch(0) + batch(3) + batch(6)
    assert run_of(form, data, offsets=range(3, 100)) == (3 * SIZE, 2, 6, 2 * BODY_SIZE, 9)


@in_both_forms
def test_a_run_ends_before_the_end_offset(form: str) -> None:
    data = batch(0) + batch(3) + batch(6)
    assert run_of(form, data, offsets=range(5)) == (2 * SIZE, 2, 6, 2 * BODY_SIZE, 5)


@in_both_forms
def test_a_run_ends_before_it_is_too_large(form: str) -> None:
    data = batch(0) + batch(3) + batch(6)
    assert run_of(form, data, size_max=2 * BODY_SIZE)[:2] == (2 * SIZE, 2)
    assert run_of(form, data, size_max=2 * BODY_SIZE - 1)[:2] == (SIZE, 1)
    assert run_of(form, data, size_max=0)[:2] == (0, 0)


@in_both_forms
@pytest.mark.parametrize(
    ("position", "changed"),
    [
        (0, b"\xff" * 8),
        (0, b"\x7f" + b"\xff" * 7),
        (8, b"\x00\x00\x00\x30"),
        (8, b"\x7f\xff\xff\xff"),
        (8, b"\xff\xff\xff\xff"),
        (16, b"\x01"),
        (16, b"\x03"),
        (23, b"\xff\xff\xff\xff"),
    ],
)
def test_a_run_ends_before_a_header_that_is_not_sound(
    form: str, position: int, changed: bytes
) -> None:
    data = bytearray(batch(3))
    data[position : position + len(changed)] = changed
    assert run_of(form, batch(0) + bytes(data), offsets=range(2**63 - 1))[:2] == (SIZE, 1)


@in_both_forms
@pytest.mark.parametrize(("count", "rows"), [(2, 2), (2**31 - 1, BODY_SIZE // 7), (-1, 0)])
def test_a_run_makes_no_room_for_more_records_than_its_bytes_can_hold(
    form: str, count: int, rows: int
) -> None:
    data = bytearray(batch(0))
    data[57:61] = count.to_bytes(4, "big", signed=True)
    assert run_of(form, bytes(data))[2] == rows


@in_both_forms
@pytest.mark.parametrize("position", [8, 16])
def test_bytes_that_change_while_they_are_read_are_refused(form: str, position: int) -> None:
    data = bytearray(batch(0))
    cursor = FORMS[form].RecordCursor(memoryview(data))
    rows = FORMS[form].RowReader(cursor, iter([find_run(form, bytes(data))]))
    data[position] = 0x7F
    with pytest.raises(ProtocolError, match="changed"):
        next(rows)


@in_both_forms
def test_a_cursor_enters_no_run_outside_of_its_bytes(form: str) -> None:
    longer = find_run(form, batch(0) + batch(3))
    cursor = FORMS[form].RecordCursor(memoryview(batch(0)))
    for run in (longer, FORMS[form].BatchRun(-1), FORMS[form].BatchRun(SIZE + 1)):
        with pytest.raises(AssertionError):
            cursor.enter(run)
