"""Messages of magic 0 and 1, the formats before record batches.

    offset      int64
    size        int32, counts the bytes after itself
    CRC-32      uint32, of the bytes after itself (IEEE polynomial)
    magic       int8
    attributes  int8: bits 0-2 codec; bit 3 log-append time (magic 1)
    timestamp   int64, only with magic 1
    key         int32 size (-1: null), bytes
    value       int32 size (-1: null), bytes

Compressed messages are the value of one wrapper message, which has the offset of the
last of them. Inside, offsets are absolute with magic 0 and relative with magic 1, and the
log-append time of the wrapper counts for all.
"""

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_TIMESTAMP
from moldau.records import lz4
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec, codec_of, compress, decompress
from moldau.records.entries import iterate_entries
from moldau.records.record import Record

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08

_CHECKED_POSITION = 16
ATTRIBUTES_POSITION = 17
_UINT32 = struct.Struct(">I")
_INT32 = struct.Struct(">i")
_PREFIX = struct.Struct(">qiI")
_START_0 = struct.Struct(">bb")
_START_1 = struct.Struct(">bbq")


class Message(NamedTuple):
    """One message, or the wrapper of a compressed set."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes & CODEC_MASK)

    @property
    def is_log_append_time(self) -> bool:
        return self.magic == 1 and self.attributes & LOG_APPEND_TIME != 0


def read_message(entry: ReadableBuffer) -> Message:
    """Read one complete entry; a wrong checksum is CORRUPT_MESSAGE."""
    offset, _, claimed = _PREFIX.unpack_from(entry)
    if claimed != zlib.crc32(memoryview(entry)[_CHECKED_POSITION:]):
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"message at {offset} has a wrong checksum")
    timestamp = NO_TIMESTAMP
    try:
        if entry[_CHECKED_POSITION] == 0:
            start = _START_0
            magic, attributes = start.unpack_from(entry, _CHECKED_POSITION)
        else:
            start = _START_1
            magic, attributes, timestamp = start.unpack_from(entry, _CHECKED_POSITION)
    except struct.error:
        raise ProtocolError("message is cut off") from None
    key, position = _read_bytes(entry, _CHECKED_POSITION + start.size)
    value, position = _read_bytes(entry, position)
    if position != len(entry):
        raise ProtocolError(f"message ends at {position}, not at {len(entry)}")
    return Message(offset, magic, attributes, timestamp, key, value)


def unwrap(message: Message, *, limit_bytes: int) -> list[Record]:
    """Return the records of a message with absolute offsets: itself, or those it wraps."""
    if message.attributes & CODEC_MASK == Codec.NONE:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    inner = wrapped_messages(message, limit_bytes=limit_bytes)
    base_offset = _base_offset(message, last_inner_offset=inner[-1].offset)
    return [
        Record(
            base_offset + each.offset,
            message.timestamp if message.is_log_append_time else each.timestamp,
            each.key,
            each.value,
        )
        for each in inner
    ]


def wrapped_messages(wrapper: Message, *, limit_bytes: int) -> list[Message]:
    """The messages of a compressed set as they were written."""
    inner = [read_message(entry) for entry in _inner_entries(wrapper, limit_bytes)]
    if not inner:
        raise ProtocolError("compressed set without messages")
    for each in inner:
        if each.magic != wrapper.magic:
            raise ProtocolError(f"message of magic {each.magic} inside magic {wrapper.magic}")
        if each.attributes & CODEC_MASK != Codec.NONE:
            raise ProtocolError("compressed message inside a compressed set")
    return inner


def write_message(message: Message) -> bytes:
    """Encode one message with its checksum."""
    if message.magic == 0:
        start = _START_0.pack(message.magic, message.attributes)
    else:
        start = _START_1.pack(message.magic, message.attributes, message.timestamp)
    checked = start + _bytes_field(message.key) + _bytes_field(message.value)
    size = len(checked) + _UINT32.size
    return _PREFIX.pack(message.offset, size, zlib.crc32(checked)) + checked


def write_message_set(
    records: Iterable[Record], *, magic: int, codec: Codec, is_log_append_time: bool = False
) -> bytes:
    """Encode records as messages, wrapped into one if they are compressed.

    Headers cannot be kept. A wrapper of magic 1 has the largest timestamp of its records.
    """
    attributes = LOG_APPEND_TIME if is_log_append_time and magic == 1 else 0
    is_relative = magic == 1 and codec != Codec.NONE
    messages = bytearray()
    first: Record | None = None
    for record in records:
        if first is None:
            first, timestamp = record, record.timestamp
        offset = record.offset - first.offset if is_relative else record.offset
        messages += write_message(
            Message(offset, magic, attributes, record.timestamp, record.key, record.value)
        )
        timestamp = max(timestamp, record.timestamp)
    assert first is not None, "a message set has no place to keep offsets without records"
    if codec == Codec.NONE:
        return bytes(messages)
    value = _compress(bytes(messages), magic, codec)
    wrapper = Message(record.offset, magic, attributes | codec, timestamp, None, value)
    return write_message(wrapper)


def _inner_entries(wrapper: Message, limit_bytes: int) -> list[memoryview]:
    if wrapper.value is None:
        raise ProtocolError("compressed set without a value")
    codec = wrapper.codec
    if codec == Codec.ZSTD:
        raise ProtocolError("zstd is not a codec of messages")
    if codec == Codec.LZ4 and wrapper.magic == 0:
        data = lz4.decompress(wrapper.value, limit_bytes=limit_bytes, accept_old_checksum=True)
    else:
        data = memoryview(decompress(codec, wrapper.value, limit_bytes=limit_bytes))
    return [data[entry.position : entry.position + entry.size] for entry in iterate_entries(data)]


def _base_offset(wrapper: Message, *, last_inner_offset: int) -> int:
    """The offset that the offsets inside count from."""
    if wrapper.magic == 0 or wrapper.offset == 0:
        return 0  # with magic 1 some versions of librdkafka leave the wrapper's offset 0
    if wrapper.offset < last_inner_offset:
        raise ProtocolError(f"wrapper offset {wrapper.offset} is below {last_inner_offset}")
    return wrapper.offset - last_inner_offset


def _compress(messages: bytes, magic: int, codec: Codec) -> bytes:
    if codec == Codec.LZ4 and magic == 0:
        return lz4.with_old_checksum(lz4.compress(messages))
    return bytes(compress(codec, messages))


def _read_bytes(entry: ReadableBuffer, position: int) -> tuple[bytes | None, int]:
    try:
        (size,) = _INT32.unpack_from(entry, position)
    except struct.error:
        raise ProtocolError("message is cut off") from None
    position += _INT32.size
    if size == -1:
        return None, position
    end = position + size
    if size < 0 or end > len(entry):
        raise ProtocolError(f"field of {size} bytes does not fit its message")
    return bytes(entry[position:end]), end


def _bytes_field(value: bytes | None) -> bytes:
    if value is None:
        return _INT32.pack(-1)
    return _INT32.pack(len(value)) + value
