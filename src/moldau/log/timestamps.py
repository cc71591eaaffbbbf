"""Looking up a log by timestamp.

Which batch a record is in is known by headers and indexes. Where in the batch it is takes to open
it, which is left to the caller: it may be large.
"""

from collections.abc import Callable
from typing import NamedTuple

from moldau.log.segment import Segment
from moldau.log.segments import Segments
from moldau.log.time_index import TimestampOffset
from moldau.records.batch import RECORDS_POSITION, BatchHeader
from moldau.records.opening import Opening
from moldau.runtime import native

FindTimestamp = Callable[[memoryview, int, int, int], tuple[int, int] | None]
_find_timestamp: FindTimestamp = native.kernel(
    "moldau.records._kernel", "moldau.records.kernel"
).find_timestamp

# A batch was decompressed within the produce limits before it was appended, so this bound
# only stops a file that was tampered with.
_SECTION_MAX_BYTES = 1 << 30
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class Candidate(NamedTuple):
    """The batch that has a record of a time or later, unless that was before `start_offset`."""

    data: bytes
    header: BatchHeader
    timestamp: int
    start_offset: int

    def first(self, opening: Opening) -> TimestampOffset | None:
        """Search the batch; raises TooLargeToOpen if that is too much where it is called."""
        header = self.header
        delta = self.timestamp - header.base_timestamp
        if header.is_log_append_time:
            delta = _INT64_MIN  # all records have the time of the batch
        pool = opening.scratch.take()
        try:
            section = opening.open(
                header.codec,
                memoryview(self.data)[RECORDS_POSITION:],
                limit_bytes=_SECTION_MAX_BYTES,
                allocate=pool.allocate,
            )
            found = _find_timestamp(
                section,
                header.record_count,
                min(max(delta, _INT64_MIN), _INT64_MAX),
                max(self.start_offset - header.base_offset, 0),
            )
        finally:
            opening.scratch.give_back(pool)
        if found is None:
            return None
        timestamp_delta, offset_delta = found
        timestamp = header.base_timestamp + timestamp_delta
        if header.is_log_append_time:
            timestamp = header.max_timestamp
        return TimestampOffset(timestamp, header.base_offset + offset_delta)


def at_or_after(segments: Segments, timestamp: int, *, start_offset: int) -> Candidate | None:
    """Where the first record from `start_offset` on is whose timestamp is `timestamp` or later."""
    for segment in segments.since(start_offset):
        if segment.largest.timestamp >= timestamp:
            found = _first_in(segment, timestamp, start_offset)
            if found is not None:
                return found
    return None


def of_largest(segments: Segments, *, start_offset: int) -> Candidate | None:
    """Where the first record is that has the largest timestamp; None if the log is empty."""
    best: Segment | None = None
    for segment in segments.since(start_offset):
        if segment.size and (best is None or segment.largest.timestamp > best.largest.timestamp):
            best = segment
    if best is None:
        return None
    located = best.locate(best.largest.offset)
    if located is None:
        return None
    position, header = located
    return _candidate(best, position, header, best.largest.timestamp, start_offset)


def _first_in(segment: Segment, timestamp: int, start_offset: int) -> Candidate | None:
    scan_offset = max(segment.indexes.times.offset_before(timestamp), start_offset)
    start = segment.indexes.offsets.position_of(scan_offset)
    for position, header in segment.headers(start):
        if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
            return _candidate(segment, position, header, timestamp, start_offset)
    return None


def _candidate(
    segment: Segment, position: int, header: BatchHeader, timestamp: int, start_offset: int
) -> Candidate:
    data = segment.file().read(position, header.size)
    return Candidate(data, header, timestamp, start_offset)
