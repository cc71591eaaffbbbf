"""Looking up a log by timestamp."""

from moldau.log.segment import Segment
from moldau.log.segments import Segments
from moldau.log.time_index import TimestampOffset
from moldau.records.batch import BatchHeader, read_records

# A batch was decompressed within the produce limits before it was appended, so this bound
# only stops a file that was tampered with.
_SECTION_MAX_BYTES = 1 << 30


def first_at_or_after(
    segments: Segments, timestamp: int, *, start_offset: int
) -> TimestampOffset | None:
    """The first record from `start_offset` on whose timestamp is `timestamp` or later."""
    for segment in segments.since(start_offset):
        if segment.largest.timestamp >= timestamp:
            found = _first_in(segment, timestamp, start_offset)
            if found is not None:
                return found
    return None


def of_largest(segments: Segments, *, start_offset: int) -> TimestampOffset | None:
    """The first record that has the largest timestamp of the log; None if the log is empty."""
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
    return _first_in_batch(best, position, header, best.largest.timestamp, start_offset)


def _first_in(segment: Segment, timestamp: int, start_offset: int) -> TimestampOffset | None:
    scan_offset = max(segment.indexes.times.offset_before(timestamp), start_offset)
    start = segment.indexes.offsets.position_of(scan_offset)
    for position, header in segment.headers(start):
        if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
            found = _first_in_batch(segment, position, header, timestamp, start_offset)
            if found is not None:
                return found
    return None


def _first_in_batch(
    segment: Segment, position: int, header: BatchHeader, timestamp: int, start_offset: int
) -> TimestampOffset | None:
    data = segment.file().read(position, header.size)
    for record in read_records(data, limit_bytes=_SECTION_MAX_BYTES):
        if record.timestamp >= timestamp and record.offset >= start_offset:
            return TimestampOffset(record.timestamp, record.offset)
    return None
