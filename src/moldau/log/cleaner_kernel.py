# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The filter of compaction: which records of a batch stay, and the batch without the others.

This file runs as it stands and is also compiled as `_cleaner_kernel`;
`_cleaner_kernel.pxd` then gives its variables C types. Bytes come from a file, so every
position is compared with the end of what may be read before it is used, in both forms.

Records that stay are copied byte for byte. They are only encoded anew when a batch gets a
delete horizon (KIP-534): its base timestamp becomes the time at which its tombstones go,
and the timestamps of its records are relative to that.

Positions in a batch's header: 0 base offset, 8 length, 17 checksum, 21 attributes,
23 last offset delta, 27 base timestamp, 35 max timestamp, 57 record count, 61 records.
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.errors import ProtocolError
from moldau.log.key_map import FULL, MORE, SPECIAL
from moldau.records.crc32c import crc32c

if not cython.compiled:
    from moldau.log.key_map import KeyMap, batch_size, check_crc
    from moldau.records.memory import (
        address,
        copy,
        int16_at,
        int32_at,
        int64_at,
        put_int16,
        put_int32,
        put_int64,
        varint_at,
        writable_view,
    )


def key_map(table: memoryview, seed: bytes, count_max: int, start_offset: int) -> KeyMap:
    """A key map that the sieve of this module, compiled or not, can use."""
    return KeyMap(table, seed, count_max, start_offset)


class Output:
    """Retained batches on their way to a file, with the places its indexes should know.

    A mark is four numbers: the position of a batch in the output, its last offset, the
    largest timestamp so far and the last offset of the first batch that has it.
    """

    def __init__(self, target: memoryview, marks: memoryview, interval_bytes: int) -> None:
        self.target = target
        self.capacity = len(target)
        self.position = 0
        self.marks = marks
        self.marks_size = len(marks)
        self.mark_count = 0
        self.interval_bytes = interval_bytes
        self.unindexed_size = 0
        self.largest_timestamp = -1
        self.largest_offset = -1

    def has_room(self, size: int) -> bool:
        """Whether a batch of `size` bytes can be added, and its mark."""
        return self.position + size <= self.capacity and self.mark_count * 4 < self.marks_size

    def add(self, batch: memoryview, last_offset: int, max_timestamp: int) -> None:
        """Add a batch as it is."""
        copy(writable_view(self.target), self.position, address(batch), 0, len(batch))
        self.note(len(batch), last_offset, max_timestamp)

    def note(self, size: int, last_offset: int, max_timestamp: int) -> None:
        """Count the batch that was written at the current position."""
        if max_timestamp > self.largest_timestamp:
            self.largest_timestamp = max_timestamp
            self.largest_offset = last_offset
        if self.unindexed_size > self.interval_bytes:
            self.marks[self.mark_count * 4] = self.position
            self.marks[self.mark_count * 4 + 1] = last_offset
            self.marks[self.mark_count * 4 + 2] = self.largest_timestamp
            self.marks[self.mark_count * 4 + 3] = self.largest_offset
            self.mark_count += 1
            self.unindexed_size = 0
        self.unindexed_size += size
        self.position += size

    def clear(self, target: memoryview) -> None:
        """Start over at the beginning of `target`; what was indexed stays counted."""
        self.target = target
        self.capacity = len(target)
        self.position = 0
        self.mark_count = 0


class Sieve:
    """Selects the records that stay, one batch after the other.

    `kept_offsets` are the last offsets, in order, of batches that must not vanish even if
    no record of them stays. `horizon_ms` is the delete horizon of tombstones that have none.
    """

    def __init__(
        self, keys: KeyMap, kept_offsets: memoryview, now_ms: int, horizon_ms: int
    ) -> None:
        self.keys = keys
        self.kept_offsets = kept_offsets
        self.kept_count = len(kept_offsets)
        self.now_ms = now_ms
        self.horizon_ms = horizon_ms
        self.spans = memoryview(bytearray(16)).cast("q")
        self.span_capacity = 1
        self.retained_count = 0
        self.has_tombstone = False
        self.max_timestamp = -1
        self.records_read = 0
        self.records_retained = 0

    def clean_batches(self, chunk: memoryview, position: int, output: Output) -> tuple[int, int]:
        """Filter plain batches from `position` on into `output`; where the run ended, and why.

        See `KeyMap.map_batches` for what is plain and why a run ends; here it also ends at
        a batch of which nothing is left although it must not vanish.
        """
        data = address(chunk)
        target = writable_view(output.target)
        end = len(chunk)
        while True:
            size = batch_size(data, position, end)
            if size == 0:
                return position, MORE
            attributes = int16_at(data, position + 21)
            if attributes & 0x37:
                return position, SPECIAL
            record_count = int32_at(data, position + 57)
            check_count(record_count, size - 61)
            # A new delete horizon may make the timestamps of all records longer.
            if not output.has_room(size + 16 * record_count):
                return position, FULL
            last_offset = int64_at(data, position) + int32_at(data, position + 23)
            self.select_section(data, position, data, position + 61, position + size)
            if self.retained_count == 0:
                if self.is_kept(last_offset):
                    self.records_read -= record_count
                    return position, SPECIAL
            elif self.retained_count == record_count and not self.needs_horizon(attributes):
                copy(target, output.position, data, position, position + size)
                output.note(size, last_offset, int64_at(data, position + 35))
            else:
                check_crc(chunk, position, size)
                self.rewrite(data, position, attributes, output)
            self.records_retained += self.retained_count
            position += size

    def select(self, batch: memoryview, section: memoryview) -> None:
        """Choose the records of a batch that stay, given its decompressed records too.

        The answer is in `retained_count`, `has_tombstone` and `max_timestamp`.
        """
        self.select_section(address(batch), 0, address(section), 0, len(section))
        self.records_retained += self.retained_count

    def copy_selected(self, section: memoryview, timestamp_shift: int, target: memoryview) -> int:
        """Copy the selected records of `section`; returns how many bytes they take."""
        return self.copy_records(address(section), timestamp_shift, writable_view(target), 0)

    def needs_horizon(self, attributes: int) -> bool:
        """Whether what is selected has tombstones that do not know yet when to go."""
        return self.has_tombstone and attributes & 0x40 == 0

    def is_kept(self, last_offset: int) -> bool:
        """Whether a batch that ends at this offset must stay, even without records."""
        low = 0
        high = self.kept_count
        while low < high:
            middle = (low + high) // 2
            if self.kept_offsets[middle] < last_offset:
                low = middle + 1
            else:
                high = middle
        return low < self.kept_count and self.kept_offsets[low] == last_offset

    def select_section(
        self, header: memoryview, header_position: int, data: memoryview, position: int, end: int
    ) -> None:
        """`select` for the records in `data[position:end]`."""
        base_offset = int64_at(header, header_position)
        attributes = int16_at(header, header_position + 21)
        base_timestamp = int64_at(header, header_position + 27)
        record_count = int32_at(header, header_position + 57)
        check_count(record_count, end - position)
        if record_count > self.span_capacity:
            self.spans = memoryview(bytearray(record_count * 16)).cast("q")
            self.span_capacity = record_count
        is_past_horizon = attributes & 0x40 != 0 and base_timestamp <= self.now_ms
        count = 0
        self.has_tombstone, self.max_timestamp = False, -1
        self.records_read += record_count
        while record_count > 0:
            start = position
            size, position = varint_at(data, position, end)
            record_end = position + size
            if position > end or size < 0 or record_end > end:
                raise ProtocolError("a record does not fit into its batch")
            timestamp_delta, position = varint_at(data, position + 1, record_end)
            offset_delta, position = varint_at(data, position, record_end)
            key_size, position = varint_at(data, position, record_end)
            if position > record_end or key_size < -1 or key_size > record_end - position:
                raise ProtocolError("a key does not fit into its record")
            key_end = position + key_size if key_size > 0 else position
            value_size, value_position = varint_at(data, key_end, record_end)
            if value_position > record_end:
                raise ProtocolError("a value does not fit into its record")
            offset = base_offset + offset_delta
            if self.keys.latest_offset < offset:
                stays = True  # past what the map knows
            elif key_size < 0 or (value_size < 0 and is_past_horizon):
                stays = False
            else:
                stays = self.keys.get(data, position, key_size) <= offset
            if stays:
                self.spans[count * 2] = start
                self.spans[count * 2 + 1] = record_end
                count += 1
                if value_size < 0:
                    self.has_tombstone = True
                self.max_timestamp = max(self.max_timestamp, base_timestamp + timestamp_delta)
            position = record_end
            record_count -= 1
            if record_count & 0xFFFF == 0xFFFF:
                with cython.nogil:  # a batch may open to millions: others have their turn
                    pass
        self.retained_count = count

    def rewrite(self, data: memoryview, position: int, attributes: int, output: Output) -> None:
        """Write an uncompressed batch with the selected records alone."""
        target = writable_view(output.target)
        start = output.position
        copy(target, start, data, position, position + 61)
        timestamp_shift = 0
        if self.needs_horizon(attributes):
            timestamp_shift = int64_at(data, position + 27) - self.horizon_ms
            put_int16(target, start + 21, attributes | 0x40)
            put_int64(target, start + 27, self.horizon_ms)
        end = self.copy_records(data, timestamp_shift, target, start + 61)
        max_timestamp = int64_at(data, position + 35)
        if attributes & 0x08 == 0:  # else all records have the time of the append
            max_timestamp = self.max_timestamp
            put_int64(target, start + 35, max_timestamp)
        put_int32(target, start + 8, end - start - 12)
        put_int32(target, start + 57, self.retained_count)
        checksum = crc32c(output.target[start + 21 : end])
        put_int32(target, start + 17, checksum - (checksum >> 31 << 32))
        last_offset = int64_at(data, position) + int32_at(data, position + 23)
        output.note(end - start, last_offset, max_timestamp)

    def copy_records(
        self, data: memoryview, timestamp_shift: int, target: memoryview, position: int
    ) -> int:
        """Copy the selected records, their timestamp deltas shifted; returns the end."""
        number = 0
        while number < self.retained_count:
            start = self.spans[number * 2]
            record_end = self.spans[number * 2 + 1]
            number += 1
            if timestamp_shift == 0:
                copy(target, position, data, start, record_end)
                position += record_end - start
                continue
            size, body = varint_at(data, start, record_end)
            timestamp_delta, rest = varint_at(data, body + 1, record_end)
            timestamp_delta += timestamp_shift
            size = 1 + varint_size(timestamp_delta) + record_end - rest
            position = write_varint(target, position, size)
            copy(target, position, data, body, body + 1)
            position = write_varint(target, position + 1, timestamp_delta)
            copy(target, position, data, rest, record_end)
            position += record_end - rest
        return position


def check_count(record_count: int, size: int) -> None:
    """Refuse more records than fit into `size` bytes, before memory is taken for them."""
    if record_count < 0 or record_count > size // 7:  # no record is shorter
        raise ProtocolError(f"{record_count} records in {size} bytes")


def varint_size(value: int) -> int:
    """How many bytes the zigzag form of `value` takes."""
    zigzag = value << 1 ^ value >> 63
    size = 1
    while zigzag > 0x7F:
        zigzag >>= 7
        size += 1
    return size


def write_varint(data: memoryview, position: int, value: int) -> int:
    """Write the zigzag form of `value`; returns the position after it."""
    zigzag = value << 1 ^ value >> 63
    while zigzag > 0x7F:
        data[position] = zigzag & 0x7F | 0x80
        zigzag >>= 7
        position += 1
    data[position] = zigzag
    return position + 1
