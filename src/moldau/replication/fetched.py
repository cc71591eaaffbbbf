"""What a leader's answer holds of a partition, as far as it may be appended."""

from moldau.errors import ErrorCode, KafkaError
from moldau.log.batches import whole_batches
from moldau.log.producer_state import Batch
from moldau.records.batch import checksum
from moldau.records.buffers import ReadableBuffer


def checked_batches(records: ReadableBuffer) -> tuple[memoryview, list[Batch]]:
    """The whole batches of a fetched range, whose last one may be cut.

    Raises CORRUPT_MESSAGE where a checksum is wrong: what was damaged on the leader's disk,
    or on the way, must not become the copy that is left of it.
    """
    view = memoryview(records)
    batches, end = whole_batches(view)
    position = 0
    for header, _ in batches:
        if checksum(view, position, header.size) != header.crc:
            message = f"the batch at offset {header.base_offset} has a wrong checksum"
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, message)
        position += header.size
    return view[:end], batches
