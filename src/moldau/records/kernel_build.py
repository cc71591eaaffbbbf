# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loops that write records of v2 batches, from columns or one by one.

Compiled as `_kernel_build` and run uncompiled as it stands, see kernel.py. Columns come from
callers in this process, but offsets into their data are still compared with its size: a wrong
one raises ValueError instead of reading elsewhere.
"""

from collections.abc import Sequence

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import (
        address,
        copy_bytes,
        copy_object,
        difference_of_int64,
        uninitialised_bytes,
    )
    from moldau.records.murmur import murmur2_at

Headers = Sequence[tuple[str, bytes | None]]

HEADER_SIZE = 61
MEMORY_MIN = 1024
NO_ROOM = -1
BATCH_FULL = 0

# Length, timestamp delta, offset delta, the sizes of key and value, the header count: five bytes
# each but the timestamp's ten, and one byte of attributes.
RECORD_OVERHEAD_MAX = 36
HEADER_OVERHEAD_MAX = 10


class BinaryInput:
    """A column of byte strings to be written, in Arrow's layout."""

    def __init__(
        self, offsets: memoryview, data: memoryview, validity: memoryview | None, start_bit: int
    ) -> None:
        rows = len(offsets) - 1
        assert rows >= 0, "offsets have one item more than there are rows"
        assert validity is None or start_bit + rows <= 8 * len(validity), "validity is too short"
        self.offsets = offsets
        self.view = data
        self.data = address(data)
        self.data_size = len(data)
        self.rows = rows
        self.validity = validity
        self.has_validity = validity is not None
        self.start_bit = start_bit

    def size(self, row: int) -> int:
        """How many bytes the row has; -1 if it is null."""
        if self.has_validity:
            bit = self.start_bit + row
            if not self.validity[bit >> 3] >> (bit & 7) & 1:  # type: ignore[index]
                return -1
        start, end = self.offsets[row], self.offsets[row + 1]
        if start < 0 or end < start or end > self.data_size:
            raise ValueError(f"row {row} is at [{start}, {end}) of {self.data_size} bytes")
        return end - start


class HeadersInput:
    """A column of header lists to be written."""

    def __init__(self, offsets: memoryview, keys: BinaryInput, values: BinaryInput) -> None:
        self.offsets = offsets
        self.keys = keys
        self.values = values

    def count(self, row: int) -> int:
        """How many headers the row has."""
        start, end = self.offsets[row], self.offsets[row + 1]
        if start < 0 or end < start or end > self.keys.rows or end > self.values.rows:
            raise ValueError(f"row {row} has headers [{start}, {end})")
        return end - start

    def size(self, row: int) -> int:
        """How many bytes the headers of the row take, their count included."""
        count = self.count(row)
        size = size_of_varint(count)
        index = self.offsets[row]
        while count > 0:
            key_size = self.keys.size(index)
            if key_size < 0:
                raise ValueError(f"row {row} has a null header key")
            size += size_of_field(key_size) + size_of_field(self.values.size(index))
            index += 1
            count -= 1
        return size


class RecordWriter:
    """Writes the rows of its columns one after the other; a column that is None is all null.

    With an `order`, int32 numbers of rows, it writes these rows in this order.
    """

    def __init__(
        self,
        timestamps: memoryview,
        keys: BinaryInput | None,
        values: BinaryInput | None,
        headers: HeadersInput | None,
        order: memoryview | None = None,
    ) -> None:
        self.timestamps = timestamps
        self.keys = keys
        self.values = values
        self.headers = headers
        self.row = 0
        rows = len(timestamps)
        self.order = order
        self.has_order = order is not None
        self.row_count = rows if order is None else len(order)
        assert self.keys is None or self.keys.rows == rows, "keys and timestamps differ in length"
        assert self.values is None or self.values.rows == rows, "values and timestamps differ"
        assert self.headers is None or len(self.headers.offsets) == rows + 1, "headers differ"
        self.base_timestamp = self.max_timestamp = 0

    def write(self, output: memoryview, position: int, limit: int) -> int:
        """Write one batch's records at `position`, as many as end before `limit` but at least one.

        Return where they end; `row` is then the first that was not written, and the timestamps
        are those of the batch.
        """
        first_row = self.row
        while self.row < self.row_count:
            row = self.row_at(self.row)
            timestamp = self.timestamps[row]
            if self.row == first_row:
                self.base_timestamp = self.max_timestamp = timestamp
            timestamp_delta = difference_of_int64(timestamp, self.base_timestamp)
            body_size = self.body_size(row, timestamp_delta, self.row - first_row)
            end = position + size_of_varint(body_size) + body_size
            if end > limit and self.row > first_row:
                break
            assert end <= len(output), "the output is too small"
            position = write_varint(output, position, body_size)
            output[position] = 0  # attributes
            position = write_varint(output, position + 1, timestamp_delta)
            position = write_varint(output, position, self.row - first_row)
            position = write_field(output, position, self.keys, row)
            position = write_field(output, position, self.values, row)
            position = self.write_headers(output, position, row)
            self.max_timestamp = max(self.max_timestamp, timestamp)
            self.row += 1
        return position

    def row_at(self, index: int) -> int:
        """The row that is written in this place."""
        if not self.has_order:
            return index
        row = self.order[index]  # type: ignore[index]
        if row < 0 or row >= len(self.timestamps):
            raise ValueError(f"there is no row {row}")
        return row

    def body_size(self, row: int, timestamp_delta: int, offset_delta: int) -> int:
        """How many bytes the record of a row takes after its length."""
        key_size = value_size = -1
        if self.keys is not None:
            key_size = self.keys.size(row)
        if self.values is not None:
            value_size = self.values.size(row)
        size = 1 + size_of_varint(timestamp_delta) + size_of_varint(offset_delta)
        size += size_of_field(key_size) + size_of_field(value_size)
        return size + (1 if self.headers is None else self.headers.size(row))

    def write_headers(self, output: memoryview, position: int, row: int) -> int:
        """Write the headers of a row."""
        headers = self.headers
        if headers is None:
            output[position] = 0
            return position + 1
        count = headers.count(row)
        position = write_varint(output, position, count)
        index = headers.offsets[row]
        while count > 0:
            position = write_field(output, position, headers.keys, index)
            position = write_field(output, position, headers.values, index)
            index += 1
            count -= 1
        return position


def order_by_partition(
    keys: BinaryInput, null_partition: int, order: memoryview, starts: memoryview
) -> None:
    """Fill `order` with the rows partition by partition, each in the order of the rows.

    Keys go by their hash, null keys to `null_partition`. Rows of partition `i` are then at
    `[starts[i], starts[i + 1])` of `order`: `starts` has one item more than there are partitions.
    """
    partition_count = len(starts) - 1
    assert len(order) == keys.rows, "order and keys differ in length"
    assert 0 <= null_partition < partition_count, "no such partition"
    chosen = memoryview(uninitialised_bytes(4 * keys.rows)).cast("i")
    partition_of_rows(keys, null_partition, chosen, starts)
    total = 0
    for partition in range(partition_count + 1):
        total += starts[partition]
        starts[partition] = total
    place_rows(chosen, order, starts)


def partition_of_rows(
    keys: BinaryInput, null_partition: int, chosen: memoryview, counts: memoryview
) -> None:
    """Choose a partition for each row, and count the rows of each before the next one's place."""
    partition_count = len(counts) - 1
    row = 0
    while row <= partition_count:
        counts[row] = 0
        row += 1
    row = 0
    while row < keys.rows:
        size = keys.size(row)
        partition = null_partition
        if size >= 0:
            hashed = murmur2_at(keys.data, keys.offsets[row], size)
            partition = (hashed & 0x7FFFFFFF) % partition_count
        chosen[row] = partition
        counts[partition + 1] += 1
        row += 1


def place_rows(chosen: memoryview, order: memoryview, starts: memoryview) -> None:
    """Put each row behind those of its partition, then put the starts back."""
    row = 0
    while row < len(chosen):
        partition = chosen[row]
        order[starts[partition]] = row
        starts[partition] += 1
        row += 1
    partition = len(starts) - 1
    while partition > 0:
        starts[partition] = starts[partition - 1]
        partition -= 1
    starts[0] = 0


class RecordBuffer:
    """The records of one batch, written as they come, behind room for the batch's header.

    They take at most `size_max` bytes with that room, unless the first record needs more.
    `owner` is for the code that keeps the buffer.
    """

    def __init__(self, size_max: int, owner: object = None) -> None:
        self.size_max = size_max
        self.owner = owner
        self.memory = uninitialised_bytes(min(size_max, MEMORY_MIN) + HEADER_SIZE)
        self.output = memoryview(self.memory)
        self.size = HEADER_SIZE
        self.count = 0
        self.base_timestamp = self.max_timestamp = 0

    def append(
        self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers, room: int
    ) -> int:
        """Write a record, and return how many bytes it takes.

        Nothing is written if that is more than `room` (NO_ROOM), or more than fits into the
        batch (BATCH_FULL).
        """
        encoded_headers = encode_headers(headers) if headers else b"\0"
        key_size = -1 if key is None else len(key)
        value_size = -1 if value is None else len(value)
        if self.count == 0:
            self.base_timestamp = self.max_timestamp = timestamp
        timestamp_delta = difference_of_int64(timestamp, self.base_timestamp)
        body_size = 1 + size_of_varint(timestamp_delta) + size_of_varint(self.count)
        body_size += size_of_field(key_size) + size_of_field(value_size) + len(encoded_headers)
        size = size_of_varint(body_size) + body_size
        if self.size + size > self.size_max and self.count > 0:
            return BATCH_FULL
        if size > room:
            return NO_ROOM
        if self.size + size > len(self.output):
            self.enlarge(self.size + size)
        position = write_varint(self.output, self.size, body_size)
        self.output[position] = 0  # attributes
        position = write_varint(self.output, position + 1, timestamp_delta)
        position = write_varint(self.output, position, self.count)
        position = write_bytes(self.output, position, key, key_size)
        position = write_bytes(self.output, position, value, value_size)
        copy_object(self.output, position, encoded_headers, len(encoded_headers))
        self.max_timestamp = max(self.max_timestamp, timestamp)
        self.size += size
        self.count += 1
        return size

    def enlarge(self, size: int) -> None:
        """Move to memory with room for so many bytes, and for some more if they may come."""
        before = self.memory  # which must not go while it is copied
        source = address(self.output)
        self.memory = uninitialised_bytes(max(size, min(4 * len(before), self.size_max)))
        self.output = memoryview(self.memory)
        copy_bytes(self.output, 0, source, 0, self.size)

    def view(self) -> memoryview:
        """The batch so far: its records, and before them what its header goes over."""
        return memoryview(self.memory)[: self.size]


def encode_headers(headers: Headers) -> bytes:
    """The headers of a record with their count; rare, so not worth a compiled loop."""
    parts = [encode_number(len(headers))]
    for name, value in headers:
        encoded = name.encode()
        parts += [encode_number(len(encoded)), encoded]
        parts += [encode_number(-1)] if value is None else [encode_number(len(value)), value]
    return b"".join(parts)


def encode_number(value: int) -> bytes:
    """A small number as a varint."""
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def write_bytes(output: memoryview, position: int, source: bytes | None, size: int) -> int:
    """Write one byte string with its size, or a null, and return the position after it."""
    position = write_varint(output, position, size)
    if source is not None and size > 0:
        copy_object(output, position, source, size)
        position += size
    return position


def write_field(output: memoryview, position: int, column: BinaryInput | None, row: int) -> int:
    """Write one byte string with its size, and return the position after it."""
    size = -1
    if column is not None:
        size = column.size(row)
    position = write_varint(output, position, size)
    if column is not None and size > 0:
        copy_bytes(output, position, column.data, column.offsets[row], size)
        position += size
    return position


def write_varint(output: memoryview, position: int, value: int) -> int:
    """Write a zigzag number, and return the position after it."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 0x7F:
        output[position] = rest & 0x7F | 0x80
        rest >>= 7
        position += 1
    output[position] = rest
    return position + 1


def size_of_varint(value: int) -> int:
    """How many bytes a zigzag number takes."""
    rest = (value << 1) ^ (value >> 63)
    size = 1
    while rest > 0x7F:
        rest >>= 7
        size += 1
    return size


def size_of_field(size: int) -> int:
    """How many bytes a byte string takes with its size, or a null (-1)."""
    return size_of_varint(size) + (size if size > 0 else 0)
