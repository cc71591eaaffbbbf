# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loops that read v2 batches.

This file runs as it stands and is also compiled as `_kernel`; `_kernel.pxd` then gives its
variables C types. Bytes come from the network, so every position is compared with the end of
what may be read before it is used, in both forms. A record is, after its length:

    attributes int8 · timestamp delta varlong · offset delta varint
    key size varint (-1: null), key · value size varint (-1: null), value
    header count varint, then per header: key size varint, key · value size varint, value

The header of a batch is described in batch.py.
"""

from collections.abc import Callable, Iterator
from typing import Self

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition

if not cython.compiled:
    from moldau.records.memory import (
        address,
        checksum_function,
        checksum_of,
        copy_bytes,
        int32_at,
        int64_at,
        start_of,
        sum_of_int64,
        take_bytes,
        uninitialised_bytes,
    )

Headers = tuple[tuple[bytes, bytes | None], ...]
HEADER_SIZE = 61
# Bits of the attributes, of which the special ones ask for more than to read the records.
CODEC = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTION = 0x30  # its records and its markers
SPECIAL = CODEC | TRANSACTION
RECORD_SIZE_MIN = 7  # each of its seven parts takes a byte at least
OFFSET_MAX = 2**63 - 1
TURN_RECORDS = 65_536  # a millisecond

CHECKSUM = checksum_function()


def check_records(body: memoryview, record_count: int) -> tuple[int, int, int, bool]:
    """Walk a produced batch's decompressed records and refuse whatever is not exactly right.

    Offset deltas must be 0, 1, 2, … and no byte may be left over. Return the smallest and the
    largest timestamp delta, the offset delta of the first record that has the latter, and
    whether any key is null; of no records (0, 0, -1, False).
    """
    cursor = RecordCursor(body)
    cursor.start(0, len(body), record_count)
    min_timestamp_delta = max_timestamp_delta = 0
    offset_delta_of_max = -1
    any_null_key = False
    index = 0
    while cursor.advance():
        if cursor.offset_delta != index:
            raise ProtocolError(f"record {index} has offset delta {cursor.offset_delta}")
        if index == 0 or cursor.timestamp_delta > max_timestamp_delta:
            max_timestamp_delta = cursor.timestamp_delta
            offset_delta_of_max = index
        if index == 0 or cursor.timestamp_delta < min_timestamp_delta:
            min_timestamp_delta = cursor.timestamp_delta
        if cursor.key_size < 0:
            any_null_key = True
        index += 1
        if index % TURN_RECORDS == 0:
            with cython.nogil:  # in a thread: others have their turn
                pass
    return min_timestamp_delta, max_timestamp_delta, offset_delta_of_max, any_null_key


def find_timestamp(
    body: memoryview, record_count: int, timestamp_delta: int, offset_delta: int
) -> tuple[int, int] | None:
    """The first record from an offset on that is of this time or later: its two deltas."""
    cursor = RecordCursor(body)
    cursor.start(0, len(body), record_count)
    count = 0
    while cursor.advance():
        if cursor.timestamp_delta >= timestamp_delta and cursor.offset_delta >= offset_delta:
            return cursor.timestamp_delta, cursor.offset_delta
        count += 1
        if count % TURN_RECORDS == 0:
            with cython.nogil:
                pass
    return None


class BatchRun:
    """Consecutive batches to be read, `[position, end)` of the fetched bytes.

    Their `batch_count` does not count those before the wanted offsets. Together they have at
    most `row_count_max` records of `size` bytes. A batch with a `codec` is alone in its run, and
    its records are read from the `body` that it is decompressed to.
    """

    def __init__(self, position: int) -> None:
        self.position = self.end = position
        self.batch_count = 0
        self.record_count = 0  # of the last batch, as it claims
        self.row_count_max = 0
        self.size = 0
        self.next_offset = 0
        self.codec = 0
        self.body: memoryview | None = None

    def decompress_to(self, body: memoryview) -> None:
        """Have the records read from `body`."""
        self.body = body
        self.size = len(body)
        self.row_count_max = row_count_max(self.record_count, self.size)


class RunFinder:
    """Finds what can be read together, of the batches with offsets in `[start, end)`.

    Checksums of compressed batches are compared here, if that is wanted.
    """

    def __init__(
        self, fetched: memoryview, start_offset: int, end_offset: int, checks_crc: bool
    ) -> None:
        self.view = fetched
        self.fetched = address(fetched)
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.checks_crc = checks_crc
        self.size = self.attributes = self.record_count = 0
        self.base_offset = self.next_offset = 0

    def find(self, position: int, size_max: int) -> BatchRun:
        """The plain batches from `position` on, or one that is only compressed.

        The run ends before anything else, be it not sound or not complete, before a batch at
        the end offset or later, and before the records would exceed `size_max` bytes.
        """
        run = BatchRun(position)
        while self.read_header(run.end) and self.base_offset < self.end_offset:
            if self.attributes & SPECIAL:
                if run.end == position and not self.attributes & TRANSACTION:
                    self.append(run, True)
                break
            if run.size + self.size - HEADER_SIZE > size_max:
                break
            self.append(run, True)
        return run

    def next_offset_after_all(self) -> int:
        """The offset after the last complete batch; the start offset if there is none."""
        position = 0
        next_offset = self.start_offset
        while self.read_header(position):
            next_offset = max(next_offset, self.next_offset)
            position += self.size
        return next_offset

    def find_one(self, position: int, is_readable: bool) -> BatchRun:
        """The batch at `position` as a run, whatever its attributes say."""
        run = BatchRun(position)
        if self.read_header(position):
            self.append(run, is_readable)
        return run

    def append(self, run: BatchRun, is_readable: bool) -> None:
        """Append the batch whose header was read, which counts if it is to be read."""
        if is_readable and self.next_offset > self.start_offset:
            run.codec = self.attributes & CODEC
            if run.codec != 0 and self.checks_crc:
                check_crc(self.fetched, run.end, self.size)
            run.batch_count += 1
            run.size += self.size - HEADER_SIZE
            run.record_count = self.record_count
            run.row_count_max += row_count_max(self.record_count, self.size - HEADER_SIZE)
        run.next_offset = max(run.next_offset, min(self.next_offset, self.end_offset))
        run.end += self.size

    def read_header(self, position: int) -> bool:
        """Whether there is a complete batch at `position` with sound offsets."""
        data = self.fetched
        self.size = size_of_batch(data, position, len(self.view))
        if self.size == 0:
            return False
        self.attributes = data[position + 22]
        self.record_count = int32_at(data, position + 57)
        self.base_offset = int64_at(data, position)
        last_offset_delta = int32_at(data, position + 23)
        if self.base_offset < 0 or last_offset_delta < 0:
            return False
        if self.base_offset >= OFFSET_MAX - last_offset_delta:
            return False
        self.next_offset = self.base_offset + last_offset_delta + 1
        return True


def size_of_batch(data: memoryview, position: int, end: int) -> int:
    """The size of the complete batch of magic 2 at `position`; 0 if there is none."""
    if position < 0 or end - position < HEADER_SIZE or data[position + 16] != 2:
        return 0
    size = int32_at(data, position + 8) + 12
    if size < HEADER_SIZE or size > end - position:
        return 0
    return size


def row_count_max(record_count: int, size: int) -> int:
    """How many records a batch can have that claims so many in so many bytes."""
    return max(min(record_count, size // RECORD_SIZE_MIN), 0)


class RecordCursor:
    """Stands on one record after the other of the runs of batches that it enters.

    It goes to those in `[start_offset, end_offset)`, and compares the checksums of batches, if
    that is wanted, when it comes to them; that of a decompressed one was compared before.
    """

    def __init__(
        self,
        fetched: memoryview,
        start_offset: int = 0,
        end_offset: int = OFFSET_MAX,
        checks_crc: bool = False,
    ) -> None:
        self.view = self.body = fetched
        # The views keep the bytes where they are.
        self.fetched = self.data = start_of(fetched)
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.checks_crc = checks_crc
        self.is_decompressed = False
        self.batch_position = self.run_end = 0
        self.position = self.end = 0
        self.index = self.record_count = 0
        self.timestamp_delta = self.offset_delta = 0
        self.key_position = self.key_size = 0
        self.value_position = self.value_size = 0
        self.header_count = self.headers_position = 0

    def enter(self, run: BatchRun) -> None:
        """Go before the first batch of the run."""
        assert 0 <= run.position <= run.end <= len(self.view), "no such bytes"
        self.batch_position = run.position
        self.run_end = run.end
        self.is_decompressed = run.body is not None
        if run.body is None:
            self.data = self.fetched
        else:
            self.body = run.body
            self.data = start_of(run.body)
        self.position = self.end = 0
        self.index = self.record_count = 0

    def next_batch(self) -> bool:
        """Go before the first record of the next wanted batch of the run; False after the last."""
        data = self.fetched
        while self.batch_position < self.run_end:
            position = self.batch_position
            size = size_of_batch(data, position, self.run_end)
            if size == 0:
                raise ProtocolError("batches have changed while they were read")
            self.batch_position = position + size
            self.base_offset = int64_at(data, position)
            self.last_offset_delta = int32_at(data, position + 23)
            if sum_of_int64(self.base_offset, self.last_offset_delta) < self.start_offset:
                continue
            self.is_log_append_time = data[position + 22] & LOG_APPEND_TIME != 0
            self.base_timestamp = int64_at(data, position + 27)
            self.max_timestamp = int64_at(data, position + 35)
            record_count = int32_at(data, position + 57)
            if self.is_decompressed:
                self.start(0, len(self.body), record_count)
            else:
                if self.checks_crc:
                    check_crc(data, position, size)
                self.start(position + HEADER_SIZE, position + size, record_count)
            return True
        return False

    def start(self, position: int, end: int, record_count: int) -> None:
        """Go before the first of the records at `[position, end)`."""
        if record_count < 0 or record_count > (end - position) // RECORD_SIZE_MIN:
            raise ProtocolError(f"{record_count} records do not fit into {end - position} bytes")
        self.position = position
        self.end = end
        self.index = 0
        self.record_count = record_count

    def advance_selected(self) -> bool:
        """Step to the next selected record, and set its offset and timestamp."""
        while self.advance():
            if self.offset_delta < 0 or self.offset_delta > self.last_offset_delta:
                raise ProtocolError(f"record offset delta {self.offset_delta} is not in its batch")
            self.offset = sum_of_int64(self.base_offset, self.offset_delta)
            if self.start_offset <= self.offset < self.end_offset:
                if self.is_log_append_time:
                    self.timestamp = self.max_timestamp
                else:
                    self.timestamp = sum_of_int64(self.base_timestamp, self.timestamp_delta)
                return True
        return False

    def advance(self) -> bool:
        """Step to the next record, all of which is checked; False after the last."""
        if self.index == self.record_count:
            if self.position != self.end:
                raise ProtocolError(f"{self.end - self.position} bytes after the last record")
            return False
        data = self.data
        size, position = read_varint(data, self.position, self.end)
        end = position + size
        if size < 0 or end > self.end:
            raise ProtocolError(f"record {self.index} does not fit into its batch")
        self.timestamp_delta, position = read_varlong(data, position + 1, end)
        self.offset_delta, position = read_varint(data, position, end)
        self.key_size, position = read_varint(data, position, end)
        self.key_position = position
        if self.key_size > 0:
            position += self.key_size
        self.value_size, position = read_varint(data, position, end)
        self.value_position = position
        if self.value_size > 0:
            position += self.value_size
        self.header_count, position = read_varint(data, position, end)
        self.headers_position = position
        if self.header_count != 0:
            position = skip_headers(data, position, end, self.header_count)
        if position != end or self.key_size < -1 or self.value_size < -1:
            raise ProtocolError(f"record {self.index} is not what its lengths say")
        self.position = end
        self.index += 1
        return True


def check_crc(data: memoryview, position: int, size: int) -> None:
    """Refuse the batch if its checksum is not the one it claims."""
    if checksum_of(CHECKSUM, data, position + 21, size - 21) != (
        int32_at(data, position + 17) & 0xFFFFFFFF
    ):
        base_offset = int64_at(data, position)
        raise ProtocolError(f"the batch at offset {base_offset} has a wrong checksum")


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


def skip_headers(data: memoryview, position: int, end: int, count: int) -> int:
    """The position after a record's headers."""
    if count < 0:
        return end + 1
    while count > 0 and position < end:
        size, position = read_varint(data, position, end)
        if size < 0:
            return end + 1
        size, position = read_varint(data, position + size, end)
        if size < -1:
            return end + 1
        if size > 0:
            position += size
        count -= 1
    return position if count == 0 else end + 1


def allocate(size: int) -> bytearray:
    """Memory for an output; what it holds at first is of no meaning."""
    return uninitialised_bytes(size)


class BinaryOutput:
    """A column of byte strings being filled, in Arrow's layout.

    `offsets` has an int32 more than the column has room for rows, `validity` a bit for each.
    When `data` is full, what `all_data` returns takes its place: room for all there may be.
    """

    def __init__(
        self,
        offsets: memoryview,
        validity: memoryview,
        data: memoryview,
        all_data: Callable[[], memoryview],
    ) -> None:
        assert len(validity) * 8 >= len(offsets) - 1, "validity is too short"
        self.offsets = offsets
        self.validity = validity
        self.data = self.data_view = data
        self.all_data = all_data
        self.rows = 0
        self.data_size = 0
        self.null_count = 0
        offsets[0] = 0

    def has_room(self, rows: int) -> bool:
        """Whether so many rows can be appended."""
        return self.rows + rows < len(self.offsets)

    def append(self, source: memoryview, position: int, size: int) -> None:
        """Append `size` bytes of `source`, or a null if that is -1; there must be room for it."""
        row = self.rows
        bit = 1 << (row & 7)
        if size > 0:
            if self.data_size + size > len(self.data):
                self.enlarge(size)
            copy_bytes(self.data, self.data_size, source, position, size)
            self.data_size += size
        elif size < 0:
            self.null_count += 1
            bit = 0
        self.offsets[row + 1] = self.data_size
        self.validity[row >> 3] = bit | (self.validity[row >> 3] if row & 7 else 0)
        self.rows = row + 1

    def enlarge(self, size: int) -> None:
        """Move to where there is room for everything, and so for `size` more bytes."""
        larger = self.all_data()
        assert self.data_size + size <= len(larger), "no room for data"
        copy_bytes(larger, 0, address(self.data), 0, self.data_size)
        self.data = self.data_view = larger


class RowsOutput:
    """The columns of records being filled; keys and values may be unwanted (None)."""

    def __init__(
        self,
        offsets: memoryview,
        timestamps: memoryview,
        timestamp_types: memoryview,
        keys: BinaryOutput | None,
        values: BinaryOutput | None,
    ) -> None:
        self.offsets = offsets
        self.timestamps = timestamps
        self.timestamp_types = timestamp_types
        self.keys = keys
        self.values = values
        self.rows = 0
        self.header_count = 0
        self.header_bytes = 0

    def append(self, cursor: RecordCursor) -> None:
        """Append the run that the cursor has entered; there must be room for all its records."""
        while cursor.next_batch():
            self.append_batch(cursor)

    def append_batch(self, cursor: RecordCursor) -> None:
        """Append the batch that the cursor stands in."""
        keys, values = self.keys, self.values
        count = cursor.record_count
        assert self.rows + count <= len(self.offsets), "no room for offsets"
        assert self.rows + count <= len(self.timestamps), "no room for timestamps"
        assert self.rows + count <= len(self.timestamp_types), "no room for timestamp types"
        assert keys is None or keys.has_room(count), "no room for keys"
        assert values is None or values.has_room(count), "no room for values"
        while cursor.advance_selected():
            self.offsets[self.rows] = cursor.offset
            self.timestamps[self.rows] = cursor.timestamp
            self.timestamp_types[self.rows] = cursor.is_log_append_time
            if keys is not None:
                keys.append(cursor.data, cursor.key_position, cursor.key_size)
            if values is not None:
                values.append(cursor.data, cursor.value_position, cursor.value_size)
            if cursor.header_count > 0:
                self.header_count += cursor.header_count
                self.header_bytes += cursor.position - cursor.headers_position
            self.rows += 1


class HeadersOutput:
    """The headers column being filled: a list of keys and values for each row."""

    def __init__(self, offsets: memoryview, keys: BinaryOutput, values: BinaryOutput) -> None:
        self.offsets = offsets
        self.keys = keys
        self.values = values
        self.rows = 0
        offsets[0] = 0

    def append(self, cursor: RecordCursor) -> None:
        """Append the headers of a run that a `RowsOutput` has taken, which gave their size."""
        while cursor.next_batch():
            while cursor.advance_selected():
                assert self.rows + 1 < len(self.offsets), "no room for header lists"
                assert self.keys.has_room(cursor.header_count), "no room for header keys"
                assert self.values.has_room(cursor.header_count), "no room for header values"
                self.append_headers(cursor)
                self.rows += 1
                self.offsets[self.rows] = self.keys.rows

    def append_headers(self, cursor: RecordCursor) -> None:
        """Append the headers of the record that the cursor stands on."""
        data = cursor.data
        position = cursor.headers_position
        index = 0
        while index < cursor.header_count:
            size, position = read_varint(data, position, cursor.position)
            self.keys.append(data, position, size)
            size, position = read_varint(data, position + size, cursor.position)
            self.values.append(data, position, size)
            if size > 0:
                position += size
            index += 1


class Row:
    """One record of a partition, as light as it can be."""

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers

    def __repr__(self) -> str:
        offset, timestamp, key = self.offset, self.timestamp, self.key
        value, headers = self.value, self.headers
        return f"Row({offset=}, {timestamp=}, {key=}, {value=}, {headers=})"


class RowReader:
    """Iterates over the records of runs, which a cursor enters one after the other."""

    def __init__(self, cursor: RecordCursor, runs: Iterator[BatchRun]) -> None:
        self.cursor = cursor
        self.runs = runs

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        while not self.cursor.advance_selected():
            if not self.cursor.next_batch():
                self.cursor.enter(next(self.runs))
        return read_row(self.cursor)


def read_row(cursor: RecordCursor) -> Row:
    """The record that the cursor stands on."""
    row = Row.__new__(Row)
    row.offset = cursor.offset
    row.timestamp = cursor.timestamp
    row.key = row.value = None
    if cursor.key_size >= 0:
        row.key = take_bytes(cursor.data, cursor.key_position, cursor.key_size)
    if cursor.value_size >= 0:
        row.value = take_bytes(cursor.data, cursor.value_position, cursor.value_size)
    row.headers = read_headers(cursor) if cursor.header_count > 0 else ()
    return row


def read_headers(cursor: RecordCursor) -> Headers:
    """The headers of the record that the cursor stands on."""
    data = cursor.data
    position = cursor.headers_position
    headers: list[tuple[bytes, bytes | None]] = []
    index = 0
    while index < cursor.header_count:
        size, position = read_varint(data, position, cursor.position)
        key = take_bytes(data, position, size)
        size, position = read_varint(data, position + size, cursor.position)
        value = None
        if size >= 0:
            value = take_bytes(data, position, size)
            position += size
        headers.append((key, value))
        index += 1
    return tuple(headers)


class ConsumerRecord:
    """A record that was read. Header names are UTF-8, what is not is replaced."""

    def __init__(  # noqa: PLR0917 - in the order in which all clients have them
        self,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int,
        key: object,
        value: object,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers

    @classmethod
    def __class_getitem__(cls, _types: object) -> type:
        return cls

    @property
    def topic_partition(self) -> TopicPartition:
        """Where it came from, as `seek` and `commit` want it."""
        return TopicPartition(self.topic, self.partition)

    def astuple(self) -> tuple[object, ...]:
        """All its parts."""
        place = (self.topic, self.partition, self.offset, self.timestamp)
        return (*place, self.key, self.value, self.headers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsumerRecord) and self.astuple() == other.astuple()

    def __hash__(self) -> int:
        return hash((self.topic, self.partition, self.offset))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return ConsumerRecord, self.astuple()

    def __repr__(self) -> str:
        names = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
        parts = [f"{name}={each!r}" for name, each in zip(names, self.astuple(), strict=True)]
        return f"ConsumerRecord({', '.join(parts)})"


class RecordReader:
    """Reads fetched records of one partition, one by one and only when they are wanted.

    `position` is the offset after the last one that was read. A caller that wants no more may
    close it, from another thread too. It does not get past bytes that are no records.
    """

    def __init__(
        self,
        cursor: RecordCursor,
        runs: Iterator[BatchRun],
        partition: TopicPartition,
        read_key: Callable[[bytes], object] | None = None,
        read_value: Callable[[bytes], object] | None = None,
    ) -> None:
        self.cursor = cursor
        self.runs = runs
        self.topic = partition.topic
        self.partition = partition.partition
        self.read_key = read_key
        self.read_value = read_value
        self.position = self.cursor.start_offset
        self.is_exhausted = False
        self.failure: Exception | None = None
        self.corruption: str | None = None

    def close(self) -> None:
        """Read no more."""
        self.is_exhausted = True

    def take(self, count: int) -> list[ConsumerRecord]:
        """The next records, at most so many; what fails after some of them, fails next time."""
        if self.failure is not None:
            failure = self.failure
            self.failure = None
            raise failure
        taken: list[ConsumerRecord] = []
        while len(taken) < count:
            try:
                record = self.next_record()
            except Exception as error:
                if not taken:
                    raise
                self.failure = error
                break
            if record is None:
                break
            taken.append(record)
        return taken

    def next_record(self) -> ConsumerRecord | None:
        """The next record, or None if there is none."""
        cursor = self.cursor
        if self.corruption is not None and not self.is_exhausted:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, self.corruption)
        try:
            while not self.is_exhausted and not cursor.advance_selected():
                if not cursor.next_batch():
                    self.next_run()
        except ProtocolError as error:
            self.corruption = f"{self.topic}-{self.partition} at {self.position}: {error}"
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, self.corruption) from error
        if self.is_exhausted:
            return None
        self.position = cursor.offset + 1
        return self.read_record()

    def next_run(self) -> None:
        """Go to the next batches."""
        run = next(self.runs, None)
        if run is None:
            self.is_exhausted = True
        else:
            self.cursor.enter(run)

    def read_record(self) -> ConsumerRecord:
        """The record that the cursor stands on."""
        cursor = self.cursor
        record = ConsumerRecord.__new__(ConsumerRecord)
        record.topic = self.topic
        record.partition = self.partition
        record.offset = cursor.offset
        record.timestamp = cursor.timestamp
        record.key = record.value = None
        if cursor.key_size >= 0:
            record.key = take_bytes(cursor.data, cursor.key_position, cursor.key_size)
            if self.read_key is not None:
                record.key = self.read_key(record.key)
        if cursor.value_size >= 0:
            record.value = take_bytes(cursor.data, cursor.value_position, cursor.value_size)
            if self.read_value is not None:
                record.value = self.read_value(record.value)
        record.headers = read_texts(cursor) if cursor.header_count > 0 else ()
        return record


def read_texts(cursor: RecordCursor) -> tuple[tuple[str, bytes | None], ...]:
    """The headers of the record that the cursor stands on, their names as text."""
    return tuple([(key.decode(errors="replace"), value) for key, value in read_headers(cursor)])


class RecordIterator:
    """Hands out the records of one reader after the other, in portions.

    After `count` records of a reader, or after its last, `refill` is asked to `enter` the same
    or another one.
    """

    def __init__(self, refill: Callable[[], None] | None = None) -> None:
        self.refill = refill
        self.reader: RecordReader | None = None
        self.count = 0

    def enter(self, reader: RecordReader | None, count: int) -> None:
        """Go on with this reader, for so many records; None is for none."""
        self.reader = reader
        self.count = count

    def take(self) -> ConsumerRecord | None:
        """The next record of the portion, if there is one."""
        if self.count <= 0 or self.reader is None:
            return None
        record = self.reader.next_record()
        self.count = 0 if record is None else self.count - 1
        return record

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ConsumerRecord:
        record = self.take()
        while record is None:
            assert self.refill is not None, "nobody has more records"
            self.refill()
            record = self.take()
        return record
