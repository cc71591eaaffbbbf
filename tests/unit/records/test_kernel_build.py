"""The record writer refuses columns whose offsets point elsewhere."""

import array
from importlib import import_module
from types import ModuleType

import pytest

from moldau.records import kernel_build

FORMS: dict[str, ModuleType] = {"source": kernel_build}
try:
    _kernel_build = import_module("moldau.records._kernel_build")

    FORMS["compiled"] = _kernel_build
except ImportError:  # pragma: no cover - the extension is optional
    pass

in_both_forms = pytest.mark.parametrize("kernel", FORMS.values(), ids=FORMS)

DATA = memoryview(b"0123456789")
TIMESTAMPS = memoryview(array.array("q", [1, 2]))


def int32(*numbers: int) -> memoryview:
    return memoryview(array.array("i", numbers))


@in_both_forms
def test_records_are_written_as_the_format_says(kernel: ModuleType) -> None:
    keys = kernel.BinaryInput(int32(0, 0, 1), DATA, memoryview(b"\x02"), 0)
    values = kernel.BinaryInput(int32(1, 2, 4), DATA, None, 0)
    writer = kernel.RecordWriter(TIMESTAMPS, keys, values, None)
    output = memoryview(bytearray(100))
    end = writer.write(output, 5, 100)
    assert bytes(output[5:end]) == b"\x0e\0\0\0\x01\x021\0" + b"\x12\0\x02\x02\x020\x0423\0"
    assert (writer.row, writer.base_timestamp, writer.max_timestamp) == (2, 1, 2)


@in_both_forms
@pytest.mark.parametrize("offsets", [(-1, 3, 4), (3, 2, 4), (0, 11, 11), (0, 1, 2**31 - 1)])
def test_offsets_outside_of_the_data_are_refused(
    kernel: ModuleType, offsets: tuple[int, int, int]
) -> None:
    values = kernel.BinaryInput(int32(*offsets), DATA, None, 0)
    writer = kernel.RecordWriter(TIMESTAMPS, None, values, None)
    with pytest.raises(ValueError, match="of 10 bytes"):
        writer.write(memoryview(bytearray(100)), 0, 100)


@in_both_forms
@pytest.mark.parametrize("lists", [(-1, 0, 1), (1, 0, 1), (0, 3, 3)])
def test_header_lists_outside_of_the_headers_are_refused(
    kernel: ModuleType, lists: tuple[int, int, int]
) -> None:
    two = kernel.BinaryInput(int32(0, 1, 2), DATA, None, 0)
    headers = kernel.HeadersInput(int32(*lists), two, two)
    writer = kernel.RecordWriter(TIMESTAMPS, None, None, headers)
    with pytest.raises(ValueError, match="has headers"):
        writer.write(memoryview(bytearray(100)), 0, 100)


@in_both_forms
def test_a_null_header_key_is_refused(kernel: ModuleType) -> None:
    keys = kernel.BinaryInput(int32(0, 1), DATA, memoryview(b"\0"), 0)
    values = kernel.BinaryInput(int32(0, 1), DATA, None, 0)
    headers = kernel.HeadersInput(int32(0, 1, 1), keys, values)
    writer = kernel.RecordWriter(TIMESTAMPS, None, None, headers)
    with pytest.raises(ValueError, match="null header key"):
        writer.write(memoryview(bytearray(100)), 0, 100)


@in_both_forms
def test_what_does_not_fit_together_is_a_programmer_s_error(kernel: ModuleType) -> None:
    one = kernel.BinaryInput(int32(0, 1), DATA, None, 0)
    two = kernel.BinaryInput(int32(0, 1, 2), DATA, None, 0)
    with pytest.raises(AssertionError):
        kernel.RecordWriter(TIMESTAMPS, one, None, None)
    with pytest.raises(AssertionError):
        kernel.RecordWriter(TIMESTAMPS, None, one, None)
    with pytest.raises(AssertionError):
        kernel.RecordWriter(TIMESTAMPS, None, None, kernel.HeadersInput(int32(0, 1), one, one))
    with pytest.raises(AssertionError):
        kernel.BinaryInput(int32(*range(10)), DATA, memoryview(b"\xff"), 0)
    with pytest.raises(AssertionError):
        kernel.RecordWriter(TIMESTAMPS, two, None, None).write(memoryview(bytearray(5)), 0, 5)


@in_both_forms
def test_records_are_appended_as_the_format_says(kernel: ModuleType) -> None:
    buffer = kernel.RecordBuffer(1000, "owner")
    assert buffer.append(1, None, b"1", (), 100) == 8
    assert buffer.append(2, b"0", b"23", [("h", b"x"), ("n", None)], 100) == 17
    records = b"\x0e\0\0\0\x01\x021\0" + b"\x20\0\x02\x02\x020\x0423\x04\x02h\x02x\x02n\x01"
    assert bytes(buffer.view()[61:]) == records
    assert (buffer.count, buffer.size, buffer.owner) == (2, 61 + len(records), "owner")
    assert (buffer.base_timestamp, buffer.max_timestamp) == (1, 2)


@in_both_forms
def test_a_batch_takes_as_much_as_it_may(kernel: ModuleType) -> None:
    buffer = kernel.RecordBuffer(5000)
    sizes = []
    while (size := buffer.append(0, None, b"v" * 90, (), 10_000)) > 0:
        sizes.append(size)
    assert size == kernel_build.BATCH_FULL
    assert 5000 - 100 < 61 + sum(sizes) == buffer.size <= 5000
    assert buffer.view()[61:].tobytes().count(b"v" * 90) == len(sizes)


@in_both_forms
def test_the_first_record_may_be_larger_than_a_batch_but_not_than_the_room(
    kernel: ModuleType,
) -> None:
    buffer = kernel.RecordBuffer(100)
    assert buffer.append(0, None, b"v" * 9000, (), 9000) == kernel_build.NO_ROOM
    assert buffer.count == 0
    assert buffer.append(0, None, b"v" * 9000, [("long" * 100, b"x" * 100)], 10_000) > 9000


@in_both_forms
@pytest.mark.parametrize("size", [0, 63, 64, 8191, 8192, 70_000])
def test_sizes_take_as_many_bytes_as_they_need(kernel: ModuleType, size: int) -> None:
    from moldau.client.producer.encoding import seal
    from moldau.records.building import BatchForm
    from moldau.records.rows import Rows

    buffer = kernel.RecordBuffer(1 << 20)
    buffer.append(2**63 - 1, b"k" * size, b"v" * size, [("h" * size, b"x" * size)], 1 << 20)
    buffer.append(-(2**63), b"", b"", [], 1 << 20)
    first, second = Rows(seal(buffer, BatchForm(1 << 20)))
    assert (first.key, first.value) == (b"k" * size, b"v" * size)
    assert first.headers == ((b"h" * size, b"x" * size),)
    assert (first.timestamp, second.timestamp) == (2**63 - 1, -(2**63))
