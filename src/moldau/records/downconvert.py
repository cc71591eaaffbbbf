"""Down-conversion: stored batches for clients that know only older formats.

Fetch versions 0 and 1 read magic 0, versions 2 and 3 magic 1. Headers, control batches,
producers and (magic 0) timestamps are lost; compression is kept.
"""

from moldau.errors import ErrorCode, KafkaError
from moldau.records import legacy
from moldau.records.batch import MAGIC, BatchHeader, read_records
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec
from moldau.records.entries import Entry, iterate_entries
from moldau.records.record import Record


def magic_for_fetch(version: int) -> int:
    """The newest format that a Fetch request of this version can receive."""
    if version < 2:
        return 0
    return 1 if version < 4 else MAGIC


def down_convert(
    data: ReadableBuffer, *, to_magic: int, start_offset: int, limit_bytes: int
) -> bytearray:
    """Rewrite every entry of `data` that is newer than `to_magic`.

    zstd came after these formats and is UNSUPPORTED_COMPRESSION_TYPE. Each batch is
    decompressed to at most `limit_bytes`.
    """
    converted = bytearray()
    for entry in iterate_entries(data):
        if entry.magic <= to_magic:
            converted += memoryview(data)[entry.position : entry.position + entry.size]
        else:
            converted += _convert_entry(data, entry, to_magic, start_offset, limit_bytes)
    return converted


def _convert_entry(
    data: ReadableBuffer, entry: Entry, to_magic: int, start_offset: int, limit_bytes: int
) -> bytes:
    records: list[Record]
    if entry.magic == MAGIC:
        header = BatchHeader.read(data, entry.position)
        if header.is_control:
            return b""
        codec, is_log_append_time = header.codec, header.is_log_append_time
        if codec == Codec.ZSTD:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Fetch version 10")
        records = list(read_records(data, entry.position, limit_bytes=limit_bytes))
    else:
        end = entry.position + entry.size
        message = legacy.read_message(memoryview(data)[entry.position : end])
        codec, is_log_append_time = message.codec, message.is_log_append_time
        records = legacy.unwrap(message, limit_bytes=limit_bytes)
    if codec == Codec.NONE:
        # A batch becomes single messages, and no client of those skips what it did not
        # ask for; librdkafka relies on it.
        records = [record for record in records if record.offset >= start_offset]
    if not records:
        return b""
    return legacy.write_message_set(
        records, magic=to_magic, codec=codec, is_log_append_time=is_log_append_time
    )
