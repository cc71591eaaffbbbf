"""Reading a log: from an offset to a range of a file that can be sent as it is."""

from typing import NamedTuple

from moldau.log.segment import Segment
from moldau.log.segments import Segments
from moldau.log.transaction_index import AbortedTransaction
from moldau.runtime.file_range import FileRange


class Fetched(NamedTuple):
    """Batches from the one that holds the offset asked for; it may begin before that offset.

    The range may end in the middle of a batch, which readers drop. It is None where there
    is nothing to read.
    """

    range: FileRange | None
    start_offset: int
    segment_base_offset: int
    is_first_batch_cut: bool = False

    @property
    def size(self) -> int:
        return 0 if self.range is None else self.range.size


def read(
    segments: Segments, start_offset: int, *, end_offset: int, max_bytes: int, at_least_one: bool
) -> Fetched:
    """Read batches that lie wholly before `end_offset`, at most `max_bytes`, of one segment.

    With `at_least_one` the first batch is read whole however large it is, so that a
    reader with a small limit gets on.
    """
    if start_offset >= end_offset:
        return Fetched(None, start_offset, segments.active.base_offset)
    for segment in segments.since(start_offset):
        located = segment.locate(start_offset) if segment.base_offset < end_offset else None
        if located is None:
            continue  # compaction took the rest of this segment
        position, first = located
        size = max(max_bytes, first.size) if at_least_one else max_bytes
        size = _bounded(segments, segment, position, size, end_offset)
        if size == 0:
            return Fetched(None, start_offset, segment.base_offset)
        found = FileRange(segment.file(), position, size)
        return Fetched(found, start_offset, segment.base_offset, size < first.size)
    return Fetched(None, start_offset, segments.active.base_offset)


def _bounded(
    segments: Segments, segment: Segment, position: int, size: int, end_offset: int
) -> int:
    """Cut `size` at the end of the segment and before the batch that holds `end_offset`."""
    size = min(size, segment.size - position)
    if end_offset >= segments.end_of(segment):
        return size
    # Usually the index alone shows that the limit is far behind the range.
    if segment.indexes.offsets.position_of(end_offset) >= position + size:
        return size
    limit = segment.locate(end_offset)
    return size if limit is None else max(0, min(size, limit[0] - position))


def aborted_in(segments: Segments, fetched: Fetched) -> list[AbortedTransaction]:
    """The aborted transactions that a reader of `fetched` must know to skip their records."""
    if fetched.range is None:
        return []
    following = segments.since(fetched.segment_base_offset)
    if not any(segment.has_aborted for segment in following):
        return []
    # As near behind what was read as the index shows without a scan.
    end_offset = following[0].indexes.offsets.offset_from(
        fetched.range.position + fetched.range.size
    )
    if end_offset is None:
        end_offset = segments.end_of(following[0])
    found = []
    for segment in following:
        known = segment.aborted_in(fetched.start_offset, end_offset)
        found += known.transactions
        if known.is_complete:
            break
    return found
