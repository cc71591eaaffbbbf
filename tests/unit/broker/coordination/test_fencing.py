"""What fenced producers are told."""

from moldau.broker.coordination.fencing import fencing_error
from moldau.errors import ErrorCode


def test_old_clients_hear_the_error_they_know() -> None:
    fenced = ErrorCode.PRODUCER_FENCED
    assert fencing_error(fenced, 1, fenced_since=2) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert fencing_error(fenced, 2, fenced_since=2) is fenced
    other = ErrorCode.CONCURRENT_TRANSACTIONS
    assert fencing_error(other, 1, fenced_since=2) is other
