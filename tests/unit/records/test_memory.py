"""What the kernels do with memory when they run as Python."""

from moldau.records import memory


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
