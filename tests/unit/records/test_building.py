"""Batches built from columns: what any reader gets out of them is what went in."""

import array
import contextlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import accumulate
from types import ModuleType

import pytest
from aiokafka.record.memory_records import MemoryRecords
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.records import building, kernel_build
from moldau.records.batch import (
    NO_PRODUCER,
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    crc_is_valid,
    iterate_headers,
    read_records,
    write_batch,
)
from moldau.records.building import (
    Batches,
    BatchForm,
    NewRecords,
    build_batches,
    encode_columns,
    order_by_partition,
)
from moldau.records.columns import BinaryColumn, HeadersColumn, decode_columns
from moldau.records.compression import Codec
from moldau.records.murmur import murmur2
from moldau.records.record import Record

FORMS: dict[str, ModuleType] = {"source": kernel_build}
try:
    _kernel_build = import_module("moldau.records._kernel_build")

    FORMS["compiled"] = _kernel_build
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("form", FORMS)


@contextlib.contextmanager
def using(form: str) -> Iterator[None]:
    before = building.build
    building.build = FORMS[form]
    try:
        yield
    finally:
        building.build = before


nullable = st.none() | st.binary(max_size=150)
records_strategy = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        nullable,
        nullable,
        st.lists(st.tuples(st.binary(max_size=9), nullable), max_size=3).map(tuple),
    ),
    max_size=20,
).map(lambda rows: [Record(offset, *row) for offset, row in enumerate(rows)])


def binary_column(strings: Sequence[bytes | None], shift: int = 0) -> BinaryColumn:
    """The strings as a column; `shift` puts other rows before them, as in a slice of an array."""
    ends = array.array("i", [3])
    bits = 0
    for row, string in enumerate(strings):
        ends.append(ends[-1] + len(string or b""))
        bits |= (string is not None) << (row + shift)
    validity = bits.to_bytes((len(strings) + shift + 7) // 8, "little")
    has_nulls = None in strings
    return BinaryColumn(
        offsets=memoryview(ends),
        data=memoryview(b"..." + b"".join(string or b"" for string in strings)),
        validity=memoryview(validity) if has_nulls or shift else None,
        null_count=strings.count(None),
        validity_start=shift,
    )


def columns_of(records: list[Record], shift: int = 0) -> NewRecords:
    pairs = [pair for record in records for pair in record.headers]
    ends = array.array("i", [0])
    for record in records:
        ends.append(ends[-1] + len(record.headers))
    return NewRecords(
        timestamps=memoryview(array.array("q", [record.timestamp for record in records])),
        keys=binary_column([record.key for record in records], shift),
        values=binary_column([record.value for record in records], shift),
        headers=HeadersColumn(
            memoryview(ends),
            binary_column([key for key, _ in pairs]),
            binary_column([value for _, value in pairs], shift),
        ),
    )


def records_of(batches: Batches) -> list[Record]:
    out: list[Record] = []
    for position, header in iterate_headers(batches.data):
        assert crc_is_valid(batches.data, position, header.size)
        for record in read_records(batches.data, position, limit_bytes=1 << 20):
            out.append(record._replace(offset=len(out)))
    return out


@in_both_forms
@given(
    records=records_strategy,
    size_max=st.integers(62, 2000),
    codec=st.sampled_from(Codec),
    shift=st.integers(0, 9),
)
@settings(max_examples=100, deadline=None)
def test_batches_hold_the_records_of_the_columns(
    form: str, records: list[Record], size_max: int, codec: Codec, shift: int
) -> None:
    with using(form):
        batches = encode_columns(
            columns_of(records, shift), BatchForm(size_max=size_max, attributes=codec)
        )
    assert records_of(batches) == records
    assert [position + header.size for position, header in iterate_headers(batches.data)] == (
        batches.ends
    )
    for _, header in iterate_headers(batches.data):
        assert header.size <= size_max or header.record_count == 1


@in_both_forms
@given(records=records_strategy)
@settings(max_examples=30, deadline=None)
def test_another_reader_understands_them(form: str, records: list[Record]) -> None:
    records = [each._replace(headers=()) for each in records]  # it wants their keys to be text
    with using(form):
        batches = encode_columns(columns_of(records), BatchForm(size_max=500))
    reader, got = MemoryRecords(bytes(batches.data)), []
    while reader.has_next():
        batch = reader.next_batch()
        assert batch.validate_crc()
        got += [(each.timestamp, each.key, each.value) for each in batch]
    assert got == [(each.timestamp, each.key, each.value) for each in records]


def plain(count: int) -> NewRecords:
    return columns_of([Record(row, 100 - row, None, b"v" * 50) for row in range(count)])


@in_both_forms
def test_batches_are_filled_up_to_the_size_they_may_have(form: str) -> None:
    with using(form):
        [size] = encode_columns(plain(20), BatchForm(size_max=1 << 20)).ends
        assert len(encode_columns(plain(20), BatchForm(size_max=size)).ends) == 1
        assert len(encode_columns(plain(20), BatchForm(size_max=size - 1)).ends) == 2


@in_both_forms
def test_headers_say_what_producer_and_records_say(form: str) -> None:
    with using(form):
        batches = encode_columns(
            plain(20),
            BatchForm(size_max=1 << 20, attributes=TRANSACTIONAL, producer=Producer(7, 8, 9)),
        )
    header = BatchHeader.read(batches.data)
    assert (header.base_offset, header.last_offset_delta, header.record_count) == (0, 19, 20)
    assert (header.base_timestamp, header.max_timestamp) == (100, 100)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 8, 9)
    assert header.is_transactional


@pytest.mark.parametrize(
    ("producer", "sequences"),
    [
        (Producer(1, 0, 2**31 - 2), [2**31 - 2, 2**31 - 1, 0, 1]),
        (NO_PRODUCER, [-1, -1, -1, -1]),
    ],
)
def test_sequences_count_on_and_start_over(producer: Producer, sequences: list[int]) -> None:
    batches = encode_columns(plain(4), BatchForm(size_max=100, producer=producer))
    assert [header.base_sequence for _, header in iterate_headers(batches.data)] == sequences


def test_what_compression_does_not_make_smaller_is_not_compressed() -> None:
    noise = bytes(range(256))
    records = columns_of([Record(0, 0, None, noise)])
    batches = encode_columns(records, BatchForm(size_max=1 << 20, attributes=Codec.GZIP))
    assert BatchHeader.read(batches.data).codec is Codec.NONE
    batches = encode_columns(plain(20), BatchForm(size_max=1 << 20, attributes=Codec.GZIP))
    assert BatchHeader.read(batches.data).codec is Codec.GZIP


@in_both_forms
def test_columns_that_are_left_out_are_null(form: str) -> None:
    timestamps = memoryview(array.array("q", [5, 6]))
    with using(form):
        batches = encode_columns(NewRecords(timestamps, None), BatchForm(size_max=1000))
    assert records_of(batches) == [Record(0, 5, None, None), Record(1, 6, None, None)]


def test_memory_comes_from_the_given_allocator() -> None:
    room = bytearray(b"\xff" * 100_000)
    batches = encode_columns(plain(20), BatchForm(size_max=300), allocate=lambda size: room)
    assert batches.data.obj is room
    assert len(records_of(batches)) == 20


def test_rows_are_ordered_by_the_partition_of_their_key() -> None:
    texts = [b"%d" % number for number in range(50)]
    offsets = array.array("i", accumulate(map(len, texts), initial=0))
    bits = bytearray(b"\xff" * 7)
    bits[0] &= ~0b100  # row 2 is null
    keys = BinaryColumn(
        memoryview(offsets), memoryview(b"".join(texts)), memoryview(bits), null_count=1
    )
    orders = order_by_partition(keys, 3, 1)
    for row, text in enumerate(texts):
        partition = 1 if row == 2 else (murmur2(text) & 0x7FFFFFFF) % 3
        assert row in orders[partition]
    assert sum(map(len, orders)) == 50
    assert all(list(order) == sorted(order) for order in orders)


def test_batches_are_built_of_some_rows_in_their_order() -> None:
    records = [Record(number, 100 + number, None, b"%d" % number) for number in range(9)]
    columns = decode_columns(write_batch(records))
    new = NewRecords(columns.timestamps, columns.values)
    order = memoryview(array.array("i", [7, 3, 5]))
    (built,) = build_batches(new, 1000, order)
    assert (built.count, built.base_timestamp, built.max_timestamp) == (3, 107, 107)
    assert built.size == len(built.view())
    assert [int(built.view()[61:].tobytes().find(each)) > 0 for each in (b"7", b"3", b"5")]
    assert len(list(build_batches(new, 61 + 20))) > 3
    with pytest.raises(ValueError, match="there is no row 9"):
        list(build_batches(new, 1000, memoryview(array.array("i", [9]))))
