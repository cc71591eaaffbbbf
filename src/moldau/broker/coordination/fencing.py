"""What fenced producers are told, by the age of their client."""

from moldau.errors import ErrorCode


def fencing_error(code: ErrorCode, version: int, *, fenced_since: int) -> ErrorCode:
    """PRODUCER_FENCED came later than fencing: older clients know INVALID_PRODUCER_EPOCH."""
    if code is ErrorCode.PRODUCER_FENCED and version < fenced_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
