"""Down-conversion: stored batches for clients that know only older formats.

Fetch versions 0 and 1 read magic 0, versions 2 and 3 magic 1. Headers, control batches,
producers and (magic 0) timestamps are lost; compression is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from moldau.errors import ErrorCode, KafkaError
from moldau.records import legacy
from moldau.records.batch import MAGIC, BatchHeader, read_records
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec
from moldau.records.entries import BatchEntry, iterate_entries
from moldau.records.record import Record

LONG_MAX = 2**63 - 1
RECORD_BYTES = 34  # what a message has beside its key and its value


def magic_for_fetch(version: int) -> int:
    """The newest format that a Fetch request of this version can receive."""
    if version < 2:
        return 0
    return 1 if version < 4 else MAGIC


@dataclass(slots=True)
class Allowance:
    """How many bytes of records may still be unpacked, for all that is asked for at once."""

    remaining: int


def down_convert(
    data: ReadableBuffer,
    *,
    to_magic: int,
    start_offset: int,
    limit_bytes: int,
    allowance: Allowance | None = None,
) -> bytearray:
    """Rewrite the entries of `data` that are newer than `to_magic`.

    zstd came after these formats and is UNSUPPORTED_COMPRESSION_TYPE. Each batch is
    decompressed to at most `limit_bytes`. What comes after `allowance` is used up is left
    out, but never the first: the reader would not get on.
    """
    converted = bytearray()
    allowance = allowance or Allowance(LONG_MAX)
    for entry in iterate_entries(data):
        if converted and allowance.remaining <= 0:
            break
        if entry.magic <= to_magic:
            converted += memoryview(data)[entry.position : entry.position + entry.size]
            allowance.remaining -= entry.size
            continue
        codec, is_log_append_time, records = _records_of(data, entry, limit_bytes)
        if codec == Codec.NONE:
            # A batch becomes single messages, and no client of those skips what it did not
            # ask for; librdkafka relies on it.
            records = (record for record in records if record.offset >= start_offset)
        first = next(records, None)
        if first is not None:
            converted += legacy.write_message_set(
                _counted(chain((first,), records), allowance),
                magic=to_magic,
                codec=codec,
                is_log_append_time=is_log_append_time,
            )
    return converted


def _records_of(
    data: ReadableBuffer, entry: BatchEntry, limit_bytes: int
) -> tuple[Codec, bool, Iterator[Record]]:
    """A batch's records one by one: all of them at once would take many times its size."""
    if entry.magic < MAGIC:
        end = entry.position + entry.size
        message = legacy.read_message(memoryview(data)[entry.position : end])
        records = iter(legacy.unwrap(message, limit_bytes=limit_bytes))
        return message.codec, message.is_log_append_time, records
    header = BatchHeader.read(data, entry.position)
    if header.is_control:
        return Codec.NONE, False, iter(())
    if header.codec == Codec.ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Fetch version 10")
    records = read_records(data, entry.position, limit_bytes=limit_bytes)
    return header.codec, header.is_log_append_time, records


def _counted(records: Iterator[Record], allowance: Allowance) -> Iterator[Record]:
    for record in records:
        allowance.remaining -= len(record.key or b"") + len(record.value or b"") + RECORD_BYTES
        yield record
