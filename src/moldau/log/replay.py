"""Rebuilding the producer table of a log from its newest snapshot and the batches after it."""

from moldau.log.producer_state import Producers
from moldau.log.segments import Segments
from moldau.log.snapshots import Snapshots
from moldau.records.control import read_end_marker


def restore(
    producers: Producers,
    snapshots: Snapshots,
    *,
    bounds: tuple[int, int],
    now_ms: int,
    expiration_ms: int,
) -> int:
    """Load the newest snapshot in `bounds`, the log's start and end offset.

    Returns the offset from which on batches must still be applied.
    """
    start_offset, end_offset = bounds
    found = snapshots.newest(start_offset=start_offset, end_offset=end_offset)
    producers.clear()
    if found is None:
        return start_offset
    taken_at, taken = found
    producers.load(taken, now_ms=now_ms, expiration_ms=expiration_ms)
    return taken_at


def apply_batches(
    producers: Producers, segments: Segments, *, start_offset: int, end_offset: int
) -> None:
    """Note the batches of an offset range, as if they were appended again."""
    if start_offset >= end_offset:
        return
    for segment in segments.since(start_offset):
        if segment.base_offset >= end_offset:
            return
        start = segment.indexes.offsets.position_of(start_offset)
        for position, header in segment.headers(start):
            if header.base_offset >= end_offset:
                return
            if not header.has_producer or header.last_offset < start_offset:
                continue
            marker = None
            if header.is_control:
                marker = read_end_marker(segment.file().read(position, header.size))
            producers.apply(header, marker)
