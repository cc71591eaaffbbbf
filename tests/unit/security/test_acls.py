"""Operations in a number of bits."""

from moldau.security.acls import Operation, operations_of


def test_bits_stand_for_operations() -> None:
    assert operations_of(1 << 3 | 1 << 8) == frozenset({Operation.READ, Operation.DESCRIBE})
    assert operations_of(0) == frozenset()


def test_a_broker_that_was_not_asked_says_nothing() -> None:
    assert operations_of(-(2**31)) is None
