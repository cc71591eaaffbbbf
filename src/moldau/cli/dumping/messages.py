"""Messages of magic 0 and 1 as lines, from before there were batches."""

import struct
import zlib
from collections.abc import Iterator

from moldau.records.compression import Codec, codec_of
from moldau.records.entries import BatchEntry
from moldau.records.legacy import (
    CODEC_MASK,
    LOG_APPEND_TIME,
    Message,
    read_message,
    unwrap,
    wrapped_messages,
    write_message,
)
from moldau.records.record import Record

_HEAD = struct.Struct(">qiIbbq")
_CHECKED_POSITION = 16


def message_is_valid(data: memoryview) -> bool:
    """Whether a message is as it was written."""
    _, _, claimed, *_ = _HEAD.unpack_from(data)
    return bool(claimed == zlib.crc32(data[_CHECKED_POSITION:]))


def message_line(data: memoryview, entry: BatchEntry, *, is_valid: bool) -> str:
    """The head of a message, which may wrap others."""
    offset, _, crc, magic, attributes, timestamp = _HEAD.unpack_from(data)
    shown = "true" if is_valid else "false"
    return (
        f"offset: {offset} position: {entry.position} "
        f"{_time(magic, attributes, timestamp)} size: {entry.size} magic: {magic} "
        f"compresscodec: {codec_of(attributes & CODEC_MASK).name.lower()} crc: {crc} "
        f"isvalid: {shown}"
    )


def messages_of(data: memoryview, *, limit_bytes: int) -> Iterator[tuple[Record, str]]:
    """The records of a message, each with what is known of it."""
    message = read_message(data)
    records = unwrap(message, limit_bytes=limit_bytes)
    written = [message]
    if message.codec is not Codec.NONE:
        written = wrapped_messages(message, limit_bytes=limit_bytes)
    for record, each in zip(records, written, strict=True):
        # The brace that was not opened is Apache's.
        yield (
            record,
            (
                f"offset: {record.offset} "
                f"{_time(message.magic, message.attributes, record.timestamp)} "
                f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
                f"isValid: true crc: {_crc(each)}}}"
            ),
        )


def _time(magic: int, attributes: int, timestamp: int) -> str:
    if magic == 0:
        return "NoTimestampType: -1"
    return f"{'LogAppendTime' if attributes & LOG_APPEND_TIME else 'CreateTime'}: {timestamp}"


def _crc(message: Message) -> int:
    return zlib.crc32(write_message(message)[_CHECKED_POSITION:])


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)
