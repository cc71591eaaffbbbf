"""What a leader's answer holds of a partition, as far as it may be appended."""

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.records.batch import crc_is_valid, iterate_headers
from moldau.records.buffers import ReadableBuffer


def checked_batches(records: ReadableBuffer) -> memoryview:
    """The whole batches of a fetched stretch, whose last one may be cut.

    Raises CORRUPT_MESSAGE where a checksum is wrong: what was damaged on the leader's disk,
    or on the way, must not become the copy that is left of it.
    """
    end = 0
    try:
        for position, header in iterate_headers(records):
            if not crc_is_valid(records, position, header.size):
                message = f"the batch at offset {header.base_offset} has a wrong checksum"
                raise KafkaError(ErrorCode.CORRUPT_MESSAGE, message)
            end = position + header.size
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    return memoryview(records)[:end]
