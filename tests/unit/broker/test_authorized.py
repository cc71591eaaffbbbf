"""Allowed operations as bits."""

from moldau.broker.authorized import operations_of
from moldau.security.acls import Operation


def bits(*operations: Operation) -> int:
    return sum(2**operation for operation in operations)


def test_everything_that_there_is_to_do_is_allowed() -> None:
    assert operations_of("group") == bits(Operation.READ, Operation.DELETE, Operation.DESCRIBE)
    # The numbers that Kafka 3.9 answers with when it has no authoriser.
    assert operations_of("topic") == 3576
    assert operations_of("cluster") == 8096
