"""What comes into a log and what comes of it."""

from collections.abc import Sequence
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log.producer_state import Batch, KeptBatch
from moldau.records.batch import BatchHeader, iterate_headers
from moldau.records.buffers import ReadableBuffer
from moldau.records.control import read_end_marker


class Appended(NamedTuple):
    """The answer to an append; offsets are -1 where nothing was given to append."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    is_duplicate: bool = False
    has_rolled: bool = False

    @classmethod
    def before(cls, repeated: KeptBatch) -> "Appended":
        """The answer to a batch that had been appended already."""
        return cls(repeated.first_offset, repeated.last_offset, repeated.timestamp, True)


NOTHING_APPENDED = Appended(-1, -1, -1)


def read_batches(data: ReadableBuffer) -> list[Batch]:
    """The headers of all batches in `data`, and the markers of control batches.

    The batches were validated before; what is checked here is only that `data` consists
    of whole batches, because anything else would end the log where it is written.
    """
    batches: list[Batch] = []
    end = 0
    try:
        only = BatchHeader.read(data) if data else None
        if only is not None and only.size == len(data) and not only.is_control:
            # What a producer sends is one batch, so this path is worth its lines.
            if only.last_offset_delta < 0:
                raise _corrupt(f"last offset delta {only.last_offset_delta}")
            return [(only, None)]
        for position, header in iterate_headers(data):
            if header.last_offset_delta < 0:
                raise _corrupt(f"last offset delta {header.last_offset_delta}")
            marker = read_end_marker(data, position) if header.is_control else None
            batches.append((header, marker))
            end = position + header.size
    except ProtocolError as error:
        raise _corrupt(str(error)) from error
    if end != len(data):
        raise _corrupt(f"{len(data) - end} bytes after the last whole batch")
    return batches


def require_rising(headers: Sequence[BatchHeader], log_end_offset: int) -> None:
    """Raise unless the batches lie behind `log_end_offset` and behind one another."""
    expected = log_end_offset
    for header in headers:
        if header.base_offset < expected:
            message = f"batch at offset {header.base_offset} comes after {expected - 1}"
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message)
        expected = header.next_offset


def _corrupt(message: str) -> KafkaError:
    return KafkaError(ErrorCode.CORRUPT_MESSAGE, message)
