"""Taking the result of compaction into the log, if the log is still the one it was made from."""

from moldau.log import names
from moldau.log.cleaner import CleanedSegment
from moldau.log.cleaning_plan import CleaningPlan
from moldau.log.log import Log
from moldau.log.replacement import replace_segments
from moldau.log.segment import Segment


def swap_in(log: Log, plan: CleaningPlan, cleaned: CleanedSegment, *, now_ms: int) -> bool:
    """Replace the segments that were compacted; False if the log has changed meanwhile.

    A truncation may have cut them or filled them again, retention may have removed some:
    then the result is dropped, and the rest of the work is worth nothing either.
    """
    base_offset = cleaned.replaced[0]
    replacement = Segment(
        log.folder,
        base_offset,
        size=cleaned.size,
        created_ms=cleaned.modified_ms,
        suffix=names.CLEANED,
    )
    replaced = [segment for segment in log.segments if segment.base_offset in cleaned.replaced]
    is_same = (
        log.truncation_count == plan.truncation_count
        and tuple(segment.base_offset for segment in replaced) == cleaned.replaced
    )
    if not is_same:
        with log.folder.volume.guard():
            for kind in names.SEGMENT_SUFFIXES:
                log.folder.disk.remove(replacement.path(kind))
        return False
    replace_segments(log, replaced, [replacement], now_ms=now_ms)
    return True
