"""The batches that come into a log."""

from collections.abc import Sequence

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log.producer_state import Batch
from moldau.records.batch import RECORDS_POSITION, BatchHeader
from moldau.records.buffers import ReadableBuffer
from moldau.records.control import read_end_marker


def read_batches(data: ReadableBuffer) -> list[Batch]:
    """The headers of all batches in `data`, and the markers of control batches.

    The batches were validated before; what is checked here is only that `data` consists
    of whole batches, because anything else would end the log where it is written.
    """
    batches, end = whole_batches(data)
    if end != len(data):
        raise _corrupt(f"{len(data) - end} bytes after the last whole batch")
    return batches


def whole_batches(data: ReadableBuffer) -> tuple[list[Batch], int]:
    """The same for data whose last batch may be cut, and where the whole ones end."""
    batches: list[Batch] = []
    position, end = 0, len(data)
    try:
        while position + RECORDS_POSITION <= end:
            header = BatchHeader.read(data, position)
            if position + header.size > end:
                break
            if header.last_offset_delta < 0:
                raise _corrupt(f"last offset delta {header.last_offset_delta}")
            marker = read_end_marker(data, position) if header.is_control else None
            batches.append((header, marker))
            position += header.size
    except ProtocolError as error:
        raise _corrupt(str(error)) from error
    return batches, position


def require_rising(batches: Sequence[Batch], log_end_offset: int) -> None:
    """Raise unless the batches lie behind `log_end_offset` and behind one another."""
    expected = log_end_offset
    for header, _ in batches:
        if header.base_offset < expected:
            message = f"batch at offset {header.base_offset} comes after {expected - 1}"
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message)
        expected = header.base_offset + header.last_offset_delta + 1


def _corrupt(message: str) -> KafkaError:
    return KafkaError(ErrorCode.CORRUPT_MESSAGE, message)
