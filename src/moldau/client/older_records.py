"""Records in the formats from before 0.11, which older brokers keep, to batches and back."""

from moldau.errors import ErrorCode, KafkaError
from moldau.records import legacy
from moldau.records.batch import MAGIC, write_batch
from moldau.records.downconvert import down_convert
from moldau.records.entries import iterate_entries
from moldau.records.record import Record
from moldau.records.rows import Rows

_SINCE_BATCHES = 3
_MAGIC_BEFORE = 1
_LIMIT_BYTES = 2**31 - 1


def for_version(batch: memoryview, produce_version: int) -> memoryview:
    """A batch in the newest format that a Produce request of this version can have."""
    if produce_version >= _SINCE_BATCHES:
        return batch
    if any(row.headers for row in Rows(batch)):
        reason = "the broker is older than Kafka 0.11, and headers with it not supported"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, reason)
    converted = down_convert(
        batch, to_magic=_MAGIC_BEFORE, start_offset=0, limit_bytes=_LIMIT_BYTES
    )
    return memoryview(converted)


def as_batches(fetched: memoryview) -> memoryview:
    """What was fetched as a whole, with a batch in place of each run of older messages."""
    entries = list(iterate_entries(fetched))
    if entries and all(entry.magic == MAGIC for entry in entries):
        return fetched
    converted = bytearray()
    older: list[Record] = []
    for entry in entries:
        data = fetched[entry.position : entry.position + entry.size]
        if entry.magic < MAGIC:
            message = legacy.read_message(data)
            older += legacy.unwrap(message, limit_bytes=_LIMIT_BYTES)
        else:
            converted += _batch_of(older) + data
            older = []
    return memoryview(converted + _batch_of(older))


def _batch_of(records: list[Record]) -> bytes:
    return bytes(write_batch(records, base_offset=records[0].offset)) if records else b""
