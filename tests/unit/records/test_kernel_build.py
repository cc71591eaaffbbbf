"""The record writer refuses columns whose offsets point elsewhere."""

import array
from types import ModuleType

import pytest

from moldau.records import kernel_build

FORMS: dict[str, ModuleType] = {"source": kernel_build}
try:
    from moldau.records import _kernel_build

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
