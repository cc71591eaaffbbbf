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


def test_memory_has_the_size_asked_for() -> None:
    assert len(memory.uninitialised_bytes(7)) == 7
