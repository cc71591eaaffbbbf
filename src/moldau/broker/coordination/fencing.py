"""The error that a fenced producer gets, by the age of its client."""

from moldau.errors import ErrorCode


def fencing_error(code: ErrorCode, version: int, *, fenced_since: int) -> ErrorCode:
    """PRODUCER_FENCED came later than fencing: older clients know INVALID_PRODUCER_EPOCH."""
    if code is ErrorCode.PRODUCER_FENCED and version < fenced_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
