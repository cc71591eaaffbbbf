"""Deleting old segments: by age, by the size of the log, and below its start offset.

A prefix of the log goes, never anything above the high watermark. Age is that of the
newest record of a segment; the file's own time only counts if the records have none.
"""

from moldau.log.log import Log
from moldau.log.segment import Segment

NO_LIMIT = -1


def delete_old_segments(log: Log, *, now_ms: int) -> int:
    """Take out the segments that are not to be kept; returns how many went."""
    count = 0
    while (expired := _expired_count(log, now_ms)) > 0:
        if expired == len(log.segments):
            # All is old: an empty segment must be left to append to.
            log.roll(now_ms=now_ms)
        log.drop_first_segments(expired, now_ms=now_ms)
        count += expired
    return count


def _expired_count(log: Log, now_ms: int) -> int:
    """How many of the first segments are below the log start, too old or too many."""
    surplus_bytes = _surplus_bytes(log)
    count = 0
    with log.folder.volume.guard():
        for segment in log.segments:
            end_offset = log.segments.end_of(segment)
            if end_offset > log.high_watermark or (
                segment is log.segments.active and segment.size == 0
            ):
                break
            is_surplus = 0 < segment.size <= surplus_bytes
            # Deleting to a log start inside the active segment leaves that segment alone.
            is_below_start = (
                segment is not log.segments.active and end_offset <= log.log_start_offset
            )
            if not (is_surplus or is_below_start or _is_too_old(log, segment, now_ms)):
                break
            surplus_bytes -= segment.size
            count += 1
    return count


def _surplus_bytes(log: Log) -> int:
    limit = log.config.retention_bytes
    if limit == NO_LIMIT or not log.config.is_deleted_by_retention:
        return 0
    return max(0, log.size - limit)


def _is_too_old(log: Log, segment: Segment, now_ms: int) -> bool:
    limit_ms = log.config.retention_ms
    if limit_ms == NO_LIMIT or not log.config.is_deleted_by_retention:
        return False
    newest_ms = segment.largest.timestamp
    if newest_ms < 0:
        newest_ms = segment.created_ms
    return now_ms - newest_ms > limit_ms
