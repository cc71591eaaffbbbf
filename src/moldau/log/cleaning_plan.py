"""What compaction would do to a log: whether it is worth it, and on which segments.

Clean is what was compacted before, dirty what came after. Compaction leaves alone the
active segment, everything from the last stable offset on, and records younger than
`min.compaction.lag.ms`, all in whole segments. A log is due when enough of it is dirty
(`min.cleanable.dirty.ratio`), or when a dirty record has waited `max.compaction.lag.ms`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from moldau.log.log import Log
from moldau.log.producer_state import LastRecord
from moldau.log.transaction_index import AbortedTransaction

COMPACT = "compact"


class Dirtiness(NamedTuple):
    """How much of a log can be compacted: `[first_dirty_offset, first_uncleanable_offset)`."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_size: int
    dirty_size: int
    is_overdue: bool

    @property
    def ratio(self) -> float:
        return self.dirty_size / max(1, self.clean_size + self.dirty_size)


class SourceSegment(NamedTuple):
    """One segment to be compacted; it is sealed, so its file does not change."""

    base_offset: int
    end_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class CleaningPlan:
    """All that compaction needs to know about a log, as of the moment it was planned."""

    folder_path: str
    sources: tuple[SourceSegment, ...]
    first_dirty_offset: int
    first_uncleanable_offset: int
    aborted: tuple[AbortedTransaction, ...]
    last_records: Mapping[int, LastRecord]
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    delete_retention_ms: int
    truncation_count: int
    now_ms: int


def measure(log: Log, clean_offset: int | None, *, now_ms: int) -> Dirtiness:
    """Find out what is dirty; `clean_offset` is where the last compaction ended, if known."""
    first_dirty = log.log_start_offset
    if clean_offset is not None and log.log_start_offset <= clean_offset <= log.log_end_offset:
        first_dirty = clean_offset
    limit = _first_uncleanable(log, first_dirty, now_ms)
    first_uncleanable = log.segments.since(max(limit, first_dirty))[0].base_offset
    cleanable = [s for s in log.segments if s.base_offset < first_uncleanable]
    size = sum(segment.size for segment in cleanable)
    clean_size = sum(s.size for s in cleanable if log.segments.end_of(s) <= first_dirty)
    return Dirtiness(
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=first_uncleanable,
        clean_size=clean_size,
        dirty_size=size - clean_size,
        is_overdue=_is_overdue(log, first_dirty, now_ms),
    )


def is_due(log: Log, dirtiness: Dirtiness) -> bool:
    """Whether compacting the log is worth it now."""
    if COMPACT not in log.config.cleanup_policy or dirtiness.dirty_size == 0:
        return False
    return dirtiness.is_overdue or dirtiness.ratio > log.config.min_cleanable_dirty_ratio


def choose(
    logs: Iterable[Log], clean_offsets: Mapping[Log, int], *, now_ms: int
) -> tuple[Log, Dirtiness] | None:
    """The dirtiest of the logs that are due, or None if none is."""
    best: tuple[Log, Dirtiness] | None = None
    for log in logs:
        if COMPACT in log.config.cleanup_policy:
            dirtiness = measure(log, clean_offsets.get(log), now_ms=now_ms)
            if is_due(log, dirtiness) and (best is None or dirtiness.ratio > best[1].ratio):
                best = log, dirtiness
    return best


def plan(log: Log, dirtiness: Dirtiness, *, now_ms: int) -> CleaningPlan:
    """Write down what to compact; from here on the work needs nothing of the log."""
    end_offset = dirtiness.first_uncleanable_offset
    sources = tuple(
        SourceSegment(segment.base_offset, log.segments.end_of(segment), segment.size)
        for segment in log.segments
        if segment.base_offset < end_offset
    )
    assert not sources or sources[-1].end_offset <= log.segments.active.base_offset
    return CleaningPlan(
        folder_path=log.folder.path,
        sources=sources,
        first_dirty_offset=dirtiness.first_dirty_offset,
        first_uncleanable_offset=end_offset,
        aborted=tuple(_aborted(log, end_offset)),
        last_records=log.producers.last_records(),
        segment_bytes=log.config.segment_bytes,
        segment_index_bytes=log.config.segment_index_bytes,
        index_interval_bytes=log.config.index_interval_bytes,
        delete_retention_ms=log.config.delete_retention_ms,
        truncation_count=log.truncation_count,
        now_ms=now_ms,
    )


def _first_uncleanable(log: Log, first_dirty: int, now_ms: int) -> int:
    limit = min(log.last_stable_offset, log.segments.active.base_offset)
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in log.segments.since(first_dirty):
            if segment.base_offset < limit and segment.largest.timestamp > now_ms - lag_ms:
                return segment.base_offset
    return limit


def _is_overdue(log: Log, first_dirty: int, now_ms: int) -> bool:
    lag_ms = log.config.max_compaction_lag_ms
    if lag_ms > now_ms:
        return False  # not set
    return any(
        segment.size > 0 and segment.age_ms(now_ms=now_ms, timestamp=now_ms) > lag_ms
        for segment in log.segments.since(first_dirty)
        if segment is not log.segments.active
    )


def _aborted(log: Log, end_offset: int) -> list[AbortedTransaction]:
    found = []
    with log.folder.volume.guard():
        for segment in log.segments:
            known = segment.aborted_in(log.segments.first.base_offset, end_offset)
            found += known.transactions
            if known.is_complete:
                break
    return found
