"""Single records: the rows inside a batch of format version 2.

    length          varint, counts the bytes after itself
    attributes      int8, always 0
    timestamp delta varlong, from the batch's base timestamp
    offset delta    varint, from the batch's base offset
    key             varint length (-1: null) and bytes
    value           varint length (-1: null) and bytes
    headers         varint count, then key and value of each in the same way

Varints are zig-zag: seven bits a byte, low group first, top bit set when more follow.
This is the plain row-by-row form; whole batches are turned into columns by the kernel.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moldau.errors import ProtocolError
from moldau.records.buffers import ReadableBuffer

Header = tuple[bytes, bytes | None]


class Record(NamedTuple):
    """One record as it was produced, with its absolute offset and timestamp.

    Header keys stay bytes: they are meant to be UTF-8, but no broker checks it, and
    one that is not must not make the rest of a batch unreadable.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def encode_records(
    records: Iterable[Record], *, base_offset: int, base_timestamp: int
) -> bytearray:
    """Encode the record section of a batch."""
    section = bytearray()
    for record in records:
        row = bytearray(1)  # attributes
        append_varint(row, _as_int64(record.timestamp - base_timestamp))
        append_varint(row, record.offset - base_offset)
        _append_bytes(row, record.key)
        _append_bytes(row, record.value)
        append_varint(row, len(record.headers))
        for key, value in record.headers:
            _append_bytes(row, key)
            _append_bytes(row, value)
        append_varint(section, len(row))
        section += row
    return section


def decode_records(
    section: ReadableBuffer, *, record_count: int, base_offset: int, base_timestamp: int
) -> Iterator[Record]:
    """Yield the records of a decompressed section, which must hold exactly so many."""
    data = bytes(section)
    position = 0
    for _ in range(record_count):
        size, position = read_varint(data, position)
        end = position + size
        if size < 0 or end > len(data):
            raise ProtocolError(f"record of {size} bytes does not fit its batch")
        position += 1  # attributes
        timestamp_delta, position = read_varint(data, position, bits=64)
        offset_delta, position = read_varint(data, position)
        key, position = _read_bytes(data, position)
        value, position = _read_bytes(data, position)
        headers, position = _read_headers(data, position)
        if position != end:
            raise ProtocolError(f"record ends at {position}, not at {end}")
        timestamp = _as_int64(base_timestamp + timestamp_delta)
        yield Record(base_offset + offset_delta, timestamp, key, value, headers)
    if position != len(data):
        raise ProtocolError(f"{len(data) - position} bytes after the last record")


def append_varint(target: bytearray, value: int) -> None:
    """Append a zig-zag varint."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 0x7F:
        target.append(rest & 0x7F | 0x80)
        rest >>= 7
    target.append(rest)


def read_varint(data: ReadableBuffer, position: int, *, bits: int = 32) -> tuple[int, int]:
    """Return a zig-zag varint of at most so many bits and the position after it."""
    result = shift = 0
    while shift < bits:
        try:
            byte = data[position]
        except IndexError:
            raise ProtocolError("record is cut off") from None
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            if result >> bits:
                break
            return (result >> 1) ^ -(result & 1), position
        shift += 7
    raise ProtocolError(f"varint has more than {bits} bits")


def _as_int64(value: int) -> int:
    """Let deltas between far timestamps wrap around, as they do in Java."""
    return (value + 2**63) % 2**64 - 2**63


def _append_bytes(target: bytearray, value: bytes | None) -> None:
    if value is None:
        target.append(1)  # the varint -1
        return
    append_varint(target, len(value))
    target += value


def _read_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, position = read_varint(data, position)
    if size == -1:
        return None, position
    end = position + size
    if size < 0 or end > len(data):
        raise ProtocolError(f"field of {size} bytes does not fit its batch")
    return data[position:end], end


def _read_headers(data: bytes, position: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if count == 0:
        return (), position
    if not 0 < count <= (len(data) - position) // 2:
        raise ProtocolError(f"{count} headers do not fit their record")
    headers: list[Header] = []
    for _ in range(count):
        key, position = _read_bytes(data, position)
        if key is None:
            raise ProtocolError("header key is null")
        value, position = _read_bytes(data, position)
        headers.append((key, value))
    return tuple(headers), position
