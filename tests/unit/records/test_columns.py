"""Fetched bytes as columns: the same records, in memory that Arrow takes as it is."""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pyarrow as pa
import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records import columns as columns_module
from moldau.records import fetched, kernel
from moldau.records.batch import LOG_APPEND_TIME, RECORDS_POSITION, stamp, write_batch
from moldau.records.columns import BinaryColumn, Columns, WantedColumns, decode_columns
from moldau.records.compression import Codec
from moldau.records.fetched import Selection, StopReason
from moldau.records.record import Record

FORMS: dict[str, ModuleType] = {"source": kernel}
try:
    _kernel = import_module("moldau.records._kernel")

    FORMS["compiled"] = _kernel
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)


@contextlib.contextmanager
def using(form: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetched, "kernel", FORMS[form])
        patch.setattr(columns_module, "kernel", FORMS[form])
        yield


nullable = st.none() | st.binary(max_size=150)
headers = st.lists(st.tuples(st.binary(max_size=9), nullable), max_size=3).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    """Records as a compacted log may have them: offsets rise, with gaps."""
    fields = st.tuples(st.integers(1, 3), st.integers(-(2**62), 2**62), nullable, nullable, headers)
    offset, records = draw(st.integers(0, 100)) - 1, []
    for row in draw(st.lists(fields, min_size=1, max_size=12)):
        offset += row[0]
        records.append(Record(offset, *row[1:]))
    return records


def strings(column: BinaryColumn) -> list[bytes | None]:
    return [
        bytes(column.data[column.offsets[row] : column.offsets[row + 1]])
        if column.validity is None or column.validity[row >> 3] >> (row & 7) & 1
        else None
        for row in range(len(column.offsets) - 1)
    ]


def records_of(columns: Columns) -> list[Record]:
    assert columns.keys is not None
    assert columns.values is not None
    assert columns.headers is not None
    header_keys, header_values = strings(columns.headers.keys), strings(columns.headers.values)
    pairs = [(key or b"", value) for key, value in zip(header_keys, header_values, strict=True)]
    ends = columns.headers.offsets
    header_lists = [tuple(pairs[ends[row] : ends[row + 1]]) for row in range(columns.row_count)]
    rows = zip(
        columns.offsets,
        columns.timestamps,
        strings(columns.keys),
        strings(columns.values),
        header_lists,
        strict=True,
    )
    return [Record(*row) for row in rows]


def batches(record_lists: list[list[Record]], codec: Codec = Codec.NONE) -> bytes:
    """Consecutive batches, each moved up so that it begins where the last one ended."""
    out, base_offset = b"", 0
    for records in record_lists:
        moved = moved_up(records, base_offset)
        out += write_batch(moved, base_offset=base_offset, attributes=codec)
        base_offset = moved[-1].offset + 1
    return out


def moved_up(records: list[Record], base_offset: int) -> list[Record]:
    return [record._replace(offset=record.offset + base_offset) for record in records]


def all_records(record_lists: list[list[Record]]) -> list[Record]:
    out: list[Record] = []
    for records in record_lists:
        out += moved_up(records, out[-1].offset + 1 if out else 0)
    return out


PLAIN = [Record(offset, 1000 + offset, b"k", b"v%d" % offset) for offset in range(10)]


@in_both_forms
@given(
    lists=st.lists(record_lists(), max_size=3),
    codec=st.sampled_from(Codec),
    start=st.integers(0, 60),
    size=st.integers(0, 60),
)
@settings(max_examples=60, deadline=None)
def test_the_wanted_records_come_out_as_they_went_in(
    form: str, lists: list[list[Record]], codec: Codec, start: int, size: int
) -> None:
    data = batches(lists, codec)
    selection = Selection(start_offset=start, end_offset=start + size)
    with using(form):
        got = decode_columns(data, selection)
        everything = decode_columns(data)
    expected = all_records(lists)
    assert records_of(everything) == expected
    assert records_of(got) == [each for each in expected if start <= each.offset < start + size]


@in_both_forms
@given(lists=st.lists(record_lists(), min_size=1, max_size=2))
@settings(max_examples=30, deadline=None)
def test_arrow_takes_the_buffers_as_they_are(form: str, lists: list[list[Record]]) -> None:
    with using(form):
        columns = decode_columns(batches(lists))
    batch = as_arrow(columns)
    batch.validate(full=True)
    expected = all_records(lists)
    assert batch.column("key").to_pylist() == [each.key for each in expected]
    assert batch.column("value").to_pylist() == [each.value for each in expected]
    assert batch.column("offset").to_pylist() == [each.offset for each in expected]
    assert batch.column("timestamp").to_pylist() == [each.timestamp for each in expected]
    assert batch.column("headers").to_pylist() == [
        [{"key": key, "value": value} for key, value in each.headers] for each in expected
    ]
    assert columns.values is not None
    assert batch.column("value").buffers()[2].address == pa.py_buffer(columns.values.data).address


def as_arrow(columns: Columns) -> pa.RecordBatch:
    assert columns.keys is not None
    assert columns.values is not None
    assert columns.headers is not None
    rows, lists = columns.row_count, columns.headers
    pairs = pa.StructArray.from_arrays(
        [binary_array(lists.keys), binary_array(lists.values)], ["key", "value"]
    )
    return pa.record_batch(
        {
            "offset": pa.Array.from_buffers(
                pa.int64(), rows, [None, pa.py_buffer(columns.offsets)]
            ),
            "timestamp": pa.Array.from_buffers(
                pa.int64(), rows, [None, pa.py_buffer(columns.timestamps)]
            ),
            "timestamp_type": pa.Array.from_buffers(
                pa.int8(), rows, [None, pa.py_buffer(columns.timestamp_types)]
            ),
            "key": binary_array(columns.keys),
            "value": binary_array(columns.values),
            "headers": pa.Array.from_buffers(
                pa.list_(pairs.type),
                rows,
                [None, pa.py_buffer(lists.offsets)],
                children=[pairs],
            ),
        }
    )


def binary_array(column: BinaryColumn) -> pa.Array:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(pa.binary(), len(column.offsets) - 1, buffers)


@in_both_forms
@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_batches_of_another_writer(form: str, codec: int) -> None:
    if codec in (2, 3, 4):
        pytest.importorskip("aiokafka.codec")
    try:
        builder = DefaultRecordBatchBuilder(2, codec, 1, 5, 6, 7, 1 << 20)
        for delta in range(300):
            builder.append(delta, 5000 - delta, b"key" * delta, None, [("h", b"x")])
        data = builder.build()
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"aiokafka cannot write it here: {error}")
    with using(form):
        columns = decode_columns(data)
    assert records_of(columns) == [
        Record(delta, 5000 - delta, b"key" * delta, None, ((b"h", b"x"),)) for delta in range(300)
    ]


@in_both_forms
def test_log_append_time_is_the_time_of_every_record(form: str) -> None:
    created = write_batch(PLAIN)
    appended = write_batch(PLAIN, base_offset=0, attributes=LOG_APPEND_TIME)
    stamp(appended, 0, base_offset=10, leader_epoch=3)
    with using(form):
        columns = decode_columns(created + appended)
    assert list(columns.timestamps) == [1000 + delta for delta in range(10)] + [1009] * 10
    assert list(columns.timestamp_types) == [0] * 10 + [1] * 10


@in_both_forms
def test_unwanted_columns_are_left_out(form: str) -> None:
    with using(form):
        columns = decode_columns(
            write_batch(PLAIN), wanted=WantedColumns(keys=False, values=False, headers=False)
        )
    assert (columns.keys, columns.values, columns.headers) == (None, None, None)
    assert list(columns.offsets) == list(range(10))


@in_both_forms
def test_columns_without_nulls_have_no_validity(form: str) -> None:
    with using(form):
        columns = decode_columns(write_batch(PLAIN))
    assert columns.keys is not None
    assert (columns.keys.validity, columns.keys.null_count) == (None, 0)


@in_both_forms
def test_reading_stops_at_the_size_limit_and_goes_on_from_there(form: str) -> None:
    data = batches([PLAIN] * 4)
    body = len(write_batch(PLAIN)) - RECORDS_POSITION
    with using(form):
        first = decode_columns(data, max_bytes=2 * body)
        rest = decode_columns(data[first.position :], Selection(start_offset=first.next_offset))
    assert (first.row_count, first.next_offset, first.stop) == (20, 20, StopReason.SIZE_LIMIT)
    assert first.position == len(data) // 2
    assert list(rest.offsets) == list(range(20, 40))
    assert rest.stop is StopReason.DATA_END


@in_both_forms
def test_pieces_are_limited_apart_from_single_batches(form: str) -> None:
    data = batches([PLAIN] * 4)
    body = len(write_batch(PLAIN)) - RECORDS_POSITION
    with using(form):
        first = decode_columns(data, wanted=WantedColumns(total_bytes_max=body))
        rest = decode_columns(data[first.position :], first.selection_left)
    assert (first.row_count, first.stop) == (10, StopReason.SIZE_LIMIT)
    assert list(rest.offsets) == list(range(10, 40))


@in_both_forms
def test_a_batch_larger_than_the_limit_is_still_read(form: str) -> None:
    with using(form):
        assert decode_columns(write_batch(PLAIN), max_bytes=1).row_count == 10


@in_both_forms
def test_a_batch_may_not_decompress_to_more_than_the_limit(form: str) -> None:
    bomb = write_batch([Record(0, 0, None, bytes(1 << 20))], attributes=Codec.GZIP)
    with using(form), pytest.raises(ProtocolError):
        decode_columns(bomb, max_bytes=1 << 16)


@in_both_forms
def test_memory_comes_from_the_given_allocator_and_may_be_dirty_and_too_large(form: str) -> None:
    given_out = []

    def allocate(size: int) -> bytearray:
        given_out.append(bytearray(b"\xff" * (size + 100)))
        return given_out[-1]

    records = [Record(offset, 0, None, b"" if offset % 3 else None) for offset in range(20)]
    with using(form):
        columns = decode_columns(write_batch(records), allocate=allocate)
    assert records_of(columns) == records
    assert any(columns.offsets.obj is buffer for buffer in given_out)


@in_both_forms
@pytest.mark.parametrize("key_size", [0, 1, 50, 1000])
def test_keys_of_any_size_find_room(form: str, key_size: int) -> None:
    records = [Record(offset, 0, bytes([offset]) * key_size, b"v" * 9) for offset in range(50)]
    with using(form):
        columns = decode_columns(write_batch(records))
    assert records_of(columns) == records


@in_both_forms
def test_room_for_long_keys_is_made_only_when_they_are_met(form: str) -> None:
    asked = []

    def allocate(size: int) -> bytearray:
        asked.append(size)
        return bytearray(size)

    def most_asked(key: bytes | None) -> list[int]:
        asked.clear()
        data = write_batch([Record(0, 0, key, bytes(5000))])
        decode_columns(data, allocate=allocate)
        return [size for size in asked if size >= 5000]

    with using(form):
        assert len(most_asked(None)) == 1
        assert len(most_asked(b"short")) == 1
        assert len(most_asked(bytes(3000))) == 2


@in_both_forms
def test_a_wrong_checksum_is_refused_unless_it_is_not_to_be_checked(form: str) -> None:
    data = write_batch(PLAIN)
    data[-2] ^= 1
    with using(form):
        with pytest.raises(ProtocolError, match="checksum"):
            decode_columns(data)
        assert decode_columns(data, Selection(check_crc=False)).row_count == 10


@in_both_forms
@given(
    records=record_lists(),
    changes=st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=4),
    codec=st.sampled_from([Codec.NONE, Codec.NONE, Codec.ZSTD]),
)
@settings(max_examples=150, deadline=None)
def test_changed_bytes_are_read_or_refused_but_nothing_else(
    form: str, records: list[Record], changes: list[tuple[int, int]], codec: Codec
) -> None:
    data = bytearray(batches([records, PLAIN], codec))
    for place, byte in changes:
        data[place % len(data)] = byte
    with using(form), contextlib.suppress(ProtocolError):
        as_arrow(decode_columns(data, Selection(check_crc=False), max_bytes=1 << 20)).validate(
            full=True
        )


@in_both_forms
def test_every_prefix_gives_the_whole_batches_in_it(form: str) -> None:
    data = batches([PLAIN, PLAIN])
    half = len(data) // 2
    with using(form):
        for size in range(len(data) + 1):
            columns = decode_columns(data[:size])
            assert columns.row_count == 10 * (size // half)
            assert columns.next_offset == columns.row_count
