"""The loops that walk the records of v2 batches.

This file runs as it stands and is also compiled as `_kernel`; `_kernel.pxd` then gives its
variables C types. Bytes come from the network, so every position is compared with the end of
what may be read before it is used, in both forms. A record is, after its length:

    attributes int8 · timestamp delta varlong · offset delta varint
    key size varint (-1: null), key · value size varint (-1: null), value
    header count varint, then per header: key size varint, key · value size varint, value
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.errors import ProtocolError

if not cython.compiled:
    from moldau.records.memory import address


def check_records(body: memoryview, record_count: int) -> tuple[int, int, bool]:
    """Walk a produced batch's decompressed records and refuse whatever is not exactly right.

    Offset deltas must be 0, 1, 2, … and no byte may be left over. Return the largest timestamp
    delta, the offset delta of the first record that has it, and whether any key is null; of no
    records (0, -1, False).
    """
    data = address(body)
    position = 0
    end = len(body)
    max_timestamp_delta = 0
    offset_delta_of_max = -1
    any_null_key = False
    index = 0
    while index < record_count:
        size, position = read_varint(data, position, end)
        record_end = position + size
        if position > end or size < 0 or record_end > end:
            raise ProtocolError(f"record {index} does not fit into its batch")
        timestamp_delta, position = read_varlong(data, position + 1, record_end)
        offset_delta, position = read_varint(data, position, record_end)
        key_size, position = read_varint(data, position, record_end)
        if key_size >= 0:
            position += key_size
        elif key_size == -1:
            any_null_key = True
        else:
            raise ProtocolError(f"record {index} has a key of {key_size} bytes")
        position = skip_field(data, position, record_end)
        position = skip_headers(data, position, record_end)
        if position != record_end:
            raise ProtocolError(f"record {index} does not fill its length")
        if offset_delta != index:
            raise ProtocolError(f"record {index} has offset delta {offset_delta}")
        if index == 0 or timestamp_delta > max_timestamp_delta:
            max_timestamp_delta = timestamp_delta
            offset_delta_of_max = index
        index += 1
    if position != end:
        raise ProtocolError(f"{end - position} bytes after the last of {record_count} records")
    return max_timestamp_delta, offset_delta_of_max, any_null_key


# The readers below never fail but run over: at the end of what they may read, or on a number of
# too many bytes, they return a position past the end, and stay there when called again. So a
# record is read in one go and its end compared once.


def read_varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """A zigzag number of at most 32 bits at `position`, and the position after it."""
    if position + 1 < end:  # nearly always one byte or two, and never the last of the batch
        low = data[position]
        if low < 0x80:
            return (low >> 1) ^ -(low & 1), position + 1
        high = data[position + 1]
        if high < 0x80:
            return (high << 6 | (low & 0x7F) >> 1) ^ -(low & 1), position + 2
    return read_number(data, position, end, 32)


def read_varlong(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """A zigzag number of at most 64 bits at `position`, and the position after it."""
    if position + 1 < end:
        low = data[position]
        if low < 0x80:
            return (low >> 1) ^ -(low & 1), position + 1
        high = data[position + 1]
        if high < 0x80:
            return (high << 6 | (low & 0x7F) >> 1) ^ -(low & 1), position + 2
    return read_number(data, position, end, 64)


def read_number(data: memoryview, position: int, end: int, width: int) -> tuple[int, int]:
    """A zigzag number of at most `width` bits, in as many bytes as it takes."""
    value = 0
    shift = 0
    while position < end:
        byte = data[position]
        position += 1
        if shift + 7 > width and byte >> (width - shift):
            break  # bits beyond the width, or one byte more than it can need
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    return 0, end + 1


def skip_field(data: memoryview, position: int, end: int) -> int:
    """The position after a nullable field."""
    size, position = read_varint(data, position, end)
    if size < -1:
        return end + 1
    return position + size if size > 0 else position


def skip_headers(data: memoryview, position: int, end: int) -> int:
    """The position after a record's headers."""
    count, position = read_varint(data, position, end)
    if count < 0 or count > end:
        return end + 1
    while count > 0 and position < end:
        size, position = read_varint(data, position, end)
        if size < 0:
            return end + 1
        position = skip_field(data, position + size, end)
        count -= 1
    return position if count == 0 else end + 1
