"""The compactions of one log directory: which log comes next, and up to where each is clean.

A log is idle, busy (one compaction at a time), or given up: its segments are damaged, or a
batch has more keys than fit the memory. The one who owns the directory drives it:

    job = compactions.begin(logs, now_ms=...)           on the loop
    cleaner = Cleaner(disk, job.plan, workspace, pace)
    for each segment of cleaner.segments():             in a thread, up to the next segment
        swap_in(job.log, job.plan, segment, now_ms=...) on the loop; if False: abandon(job)
    compactions.finish(job, cleaner.end_offset)         then save() in a thread

Where a log is clean survives in `cleaner-offset-checkpoint`; without it all is dirty.
"""

import logging
from collections.abc import Iterable
from typing import NamedTuple

from moldau.log import checkpoint
from moldau.log.checkpoint import CheckpointError
from moldau.log.cleaning_plan import CleaningPlan, choose, plan
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.runtime.disk import Disk

_log = logging.getLogger(__name__)


class Job(NamedTuple):
    """One compaction of one log, from its plan to its end."""

    log: Log
    plan: CleaningPlan


class Compactions:
    """What is known about compaction in one log directory."""

    __slots__ = ("_busy", "_clean_offsets", "_given_up")

    def __init__(self, clean_offsets: dict[TopicPartition, int]) -> None:
        self._clean_offsets = clean_offsets
        self._busy: set[TopicPartition] = set()
        self._given_up: set[TopicPartition] = set()

    @classmethod
    def load(cls, disk: Disk, directory_path: str) -> "Compactions":
        """Read the checkpoint of a log directory; a malformed one makes everything dirty."""
        path = f"{directory_path}/{checkpoint.CLEANER_OFFSETS}"
        try:
            return cls(checkpoint.read_offsets(disk, path))
        except CheckpointError as error:
            _log.warning("%s: %s", path, error)
            return cls({})

    def save(self, disk: Disk, directory_path: str) -> None:
        """Write the checkpoint."""
        path = f"{directory_path}/{checkpoint.CLEANER_OFFSETS}"
        checkpoint.write_offsets(disk, path, self._clean_offsets)

    def clean_offset(self, partition: TopicPartition) -> int | None:
        """Up to where a log is clean, if it ever was compacted."""
        return self._clean_offsets.get(partition)

    def begin(self, logs: Iterable[Log], *, now_ms: int) -> Job | None:
        """The next compaction: of the dirtiest log that is due, idle and not given up."""
        idle = (log for log in logs if log.partition not in self._busy | self._given_up)
        chosen = choose(idle, self._clean_offsets, now_ms=now_ms)
        if chosen is None:
            return None
        log, dirtiness = chosen
        self._busy.add(log.partition)
        return Job(log, plan(log, dirtiness, now_ms=now_ms))

    def finish(self, job: Job, end_offset: int) -> None:
        """All segments are swapped in: the log is clean up to `end_offset`."""
        self._busy.discard(job.log.partition)
        # After a truncation `end_offset` is about records that are gone.
        if job.log.truncation_count == job.plan.truncation_count:
            self._clean_offsets[job.log.partition] = end_offset

    def abandon(self, job: Job) -> None:
        """The log has changed under the work, or the work was cancelled: it starts over."""
        self._busy.discard(job.log.partition)

    def give_up(self, job: Job, reason: Exception) -> None:
        """The log cannot be compacted; it is left alone until it is opened again."""
        _log.error("%s is not compacted any more: %s", job.log.partition, reason)
        self._busy.discard(job.log.partition)
        self._given_up.add(job.log.partition)

    def truncated(self, partition: TopicPartition, offset: int) -> None:
        """A log was cut: what is written from `offset` on will be dirty."""
        clean_offset = self._clean_offsets.get(partition)
        if clean_offset is not None and clean_offset > offset:
            self._clean_offsets[partition] = offset

    def forget(self, partition: TopicPartition) -> None:
        """The log is gone from this directory."""
        self._clean_offsets.pop(partition, None)
        self._given_up.discard(partition)
