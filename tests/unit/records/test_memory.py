"""What the kernels do with memory when they run as Python."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from moldau.records import memory

SIGNED = st.integers(-(2**63), 2**63 - 1)


def test_sums_and_differences_wrap_around_like_int64() -> None:
    assert memory.sum_of_int64(2**63 - 1, 1) == -(2**63)
    assert memory.sum_of_int64(-(2**63), -1) == 2**63 - 1
    assert memory.difference_of_int64(-(2**63), 1) == 2**63 - 1
    assert memory.difference_of_int64(5, 7) == -2


def test_bytes_are_copied_between_views() -> None:
    target = memoryview(bytearray(b"........"))
    memory.copy_bytes(target, 2, memory.address(memoryview(b"0123456789")), 5, 3)
    assert bytes(target) == b"..567..."
    assert memory.take_bytes(target, 2, 3) == b"567"
    memory.copy_object(target, 5, b"abc", 2)
    assert bytes(target) == b"..567ab."


def test_numbers_are_big_endian_and_signed() -> None:
    source = memoryview(b".\xff\xff\xff\xfe\x7f\xff\xff\xff")
    assert memory.int32_at(source, 1) == -2
    assert memory.int32_at(source, 5) == 2**31 - 1
    assert memory.int64_at(source, 1) == -(2**32) - 2**31 - 1


def test_checksums_are_of_the_bytes_named() -> None:
    function = memory.checksum_function()
    assert memory.checksum_of(function, memoryview(b"..123456789."), 2, 9) == 0xE3069283


def test_memory_has_the_size_asked_for() -> None:
    assert len(memory.uninitialised_bytes(7)) == 7


def test_sums_and_differences_stay_within_64_bits() -> None:
    largest, smallest = 2**63 - 1, -(2**63)
    assert memory.bounded_sum(largest, 1) == largest
    assert memory.bounded_sum(smallest, -1) == smallest
    assert memory.bounded_sum(largest, smallest) == -1
    assert memory.bounded_difference(smallest, 1) == smallest
    assert memory.bounded_difference(largest, -1) == largest
    assert memory.bounded_difference(0, smallest) == largest
    assert memory.bounded_difference(-1, smallest) == largest


def test_short_numbers_have_a_sign() -> None:
    assert memory.int16_at(memoryview(b"\0\xff\xfe\x7f\xff"), 1) == -2
    assert memory.int16_at(memoryview(b"\0\xff\xfe\x7f\xff"), 3) == 2**15 - 1


@given(SIGNED)
def test_numbers_are_read_back_as_they_were_written(value: int) -> None:
    data = memoryview(bytearray(20))

    memory.put_int64(data, 3, value)
    memory.put_int32(data, 11, value >> 32)
    memory.put_int16(data, 15, value >> 48)

    assert memory.int64_at(data, 3) == value
    assert memory.int32_at(data, 11) == value >> 32
    assert memory.int16_at(data, 15) == value >> 48
    assert bytes(data[3:11]) == struct.pack(">q", value)


@given(SIGNED)
def test_a_varint_of_any_size_is_read(value: int) -> None:
    zigzag, data = value << 1 ^ value >> 63, bytearray()
    while zigzag > 0x7F:
        data.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    data.append(zigzag)

    assert memory.varint_at(memoryview(data), 0, len(data)) == (value, len(data))
    assert memory.varint_at(memoryview(data), 0, len(data) - 1) == (0, len(data))


def test_a_varint_without_end_is_past_the_end() -> None:
    assert memory.varint_at(memoryview(b"\xff" * 20), 0, 20) == (0, 21)


def test_bytes_are_copied_into_place() -> None:
    target = bytearray(5)

    memory.copy(
        memory.writable_view(memoryview(target)),
        1,
        memory.address(memoryview(b"abcdef")),
        2,
        5,
    )

    assert target == b"\0cde\0"
