"""The compactions of a broker's logs: which log comes next, and up to where each is clean.

A log is idle, busy (one compaction at a time), or given up: its segments are damaged, or a
batch has more keys than fit the memory. `broker/storage/cleaning.py` drives it:

    compactions.load(disk, path, logs)                  for each directory, once
    job = compactions.begin(logs, now_ms=...)           on the loop
    for each segment of Cleaner(...).segments():        in a thread, up to the next segment
        swap_in(job.log, job.plan, segment, now_ms=...) on the loop, until it is False
    compactions.finish(job, cleaner.end_offset)         or give_up(job), or neither
    compactions.release(job)                            whatever came of it

Where a log is clean survives in `cleaner-offset-checkpoint`; without it all is dirty.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
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

    def has_changed(self) -> bool:
        """Whether files that the plan names may be gone for good reason."""
        present = {segment.base_offset for segment in self.log.segments}
        return (
            self.log.folder.path != self.plan.folder_path
            or self.log.truncation_count != self.plan.truncation_count
            or any(source.base_offset not in present for source in self.plan.sources)
        )


class _Clean(NamedTuple):
    """How far a log is clean; after another truncation that may mean other bytes."""

    end_offset: int
    truncation_count: int


class Compactions:
    """What is known about the compaction of logs that are open."""

    __slots__ = ("_busy", "_clean", "_given_up")

    def __init__(self) -> None:
        self._clean: dict[Log, _Clean] = {}
        self._busy: dict[Log, None] = {}
        self._given_up: dict[Log, None] = {}

    def load(self, disk: Disk, directory_path: str, logs: Mapping[TopicPartition, Log]) -> None:
        """Read the checkpoint of a directory; a malformed one makes all its logs dirty."""
        path = f"{directory_path}/{checkpoint.CLEANER_OFFSETS}"
        try:
            offsets = checkpoint.read_offsets(disk, path)
        except CheckpointError as error:
            _log.warning("Failed to read %s: %s; compacting from the start", path, error)
            return
        for partition, offset in offsets.items():
            if partition in logs:
                log = logs[partition]
                self._clean[log] = _Clean(offset, log.truncation_count)

    def clean_offsets(self, logs: Iterable[Log]) -> dict[TopicPartition, int]:
        """Up to where these are clean, those that are: what a checkpoint holds."""
        return {log.partition: self._clean[log].end_offset for log in logs if self._is_clean(log)}

    def begin(self, logs: Collection[Log], *, now_ms: int) -> Job | None:
        """The next compaction: of the dirtiest log that is due, idle and not given up.

        What was known about others than these is forgotten: they are deleted, or offline.
        """
        present = dict.fromkeys(logs)
        self._clean = {log: self._clean[log] for log in present if self._is_clean(log)}
        self._given_up = {log: None for log in self._given_up if log in present}
        idle = (log for log in present if log not in self._busy and log not in self._given_up)
        offsets = {log: clean.end_offset for log, clean in self._clean.items()}
        chosen = choose(idle, offsets, now_ms=now_ms)
        if chosen is None:
            return None
        log, dirtiness = chosen
        self._busy[log] = None
        return Job(log, plan(log, dirtiness, now_ms=now_ms))

    def finish(self, job: Job, end_offset: int) -> None:
        """All segments are swapped in: the log is clean up to `end_offset`."""
        self._clean[job.log] = _Clean(end_offset, job.plan.truncation_count)

    def give_up(self, job: Job) -> None:
        """The log cannot be compacted; it is left alone until it is opened again."""
        self._given_up[job.log] = None

    def release(self, job: Job) -> None:
        """The work is over; unless it was finished, it starts over."""
        del self._busy[job.log]

    def _is_clean(self, log: Log) -> bool:
        """Whether a compaction has reached it, and it has not been cut since."""
        clean = self._clean.get(log)
        return clean is not None and clean.truncation_count == log.truncation_count
