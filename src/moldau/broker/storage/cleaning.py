"""Compaction in the background: chooses a log, has a thread rewrite it, swaps the result in."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from moldau.broker.storage.checkpoints import Checkpoints
from moldau.config.broker.cleaner import CleanerConfig
from moldau.errors import KafkaError, ProtocolError
from moldau.log import checkpoint, cleaning_plan
from moldau.log.checkpoint import CheckpointError
from moldau.log.cleaner import CleanedSegment, Cleaner, KeyMapTooSmall, Workspace
from moldau.log.cleaning_plan import CleaningPlan, Dirtiness
from moldau.log.cleaning_swap import swap_in
from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.log.pace import Pace
from moldau.model import TopicPartition
from moldau.runtime.clock import Clock
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)


class _Clean(NamedTuple):
    """How far a log is clean; after another truncation that may mean other bytes."""

    end_offset: int
    truncation_count: int


class Cleaning:
    """Compacts the logs of all directories, each by the settings of its topic.

    A log whose bytes cannot be read is left alone until the next start, as Kafka does.
    """

    def __init__(
        self,
        directories: Mapping[LogDirectory, Checkpoints],
        *,
        config: Callable[[], CleanerConfig],
        clock: Clock,
        seed: bytes,
    ) -> None:
        self._directories = directories
        self._config = config
        self._clock = clock
        self._seed = seed
        self._known: dict[LogDirectory, dict[Log, _Clean]] = {}
        self._busy: dict[Log, None] = {}
        self._unreadable: dict[Log, None] = {}

    async def run(self) -> None:
        """Clean until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self._config().log_cleaner_threads):
                tasks.create_task(self._clean_for_ever())

    async def _clean_for_ever(self) -> None:
        while True:
            if not await self.clean_dirtiest():
                await asyncio.sleep(self._config().log_cleaner_backoff_ms / 1000)

    async def clean_dirtiest(self) -> bool:
        """Compact the log that needs it most; says whether there was one."""
        now_ms = self._clock.now_ms()
        best: tuple[LogDirectory, Log, Dirtiness] | None = None
        for directory in self._directories:
            offsets = _offsets(self._clean_logs(directory))
            chosen = cleaning_plan.choose(self._candidates(directory), offsets, now_ms=now_ms)
            if chosen and (best is None or chosen[1].ratio > best[2].ratio):
                best = directory, *chosen
        if best is None:
            return False
        directory, log, dirtiness = best
        self._busy[log] = None
        try:
            await self._clean(directory, log, dirtiness)
        except KafkaError as error:
            _log.warning("%s is not compacted: %s", log.partition, error)
        finally:
            del self._busy[log]
        return True

    def _candidates(self, directory: LogDirectory) -> Sequence[Log]:
        if not directory.volume.is_online:
            return ()
        return [
            log
            for log in directory.logs.values()
            if log not in self._busy and log not in self._unreadable
        ]

    async def _clean(self, directory: LogDirectory, log: Log, dirtiness: Dirtiness) -> None:
        plan = cleaning_plan.plan(log, dirtiness, now_ms=self._clock.now_ms())
        stop = threading.Event()
        cleaner = Cleaner(directory.volume.disk, plan, self._workspace(), self._pace(stop))
        try:
            is_done = await self._rewrite(log, plan, cleaner, stop)
        except (ProtocolError, KeyMapTooSmall) as error:
            self._unreadable[log] = None
            _log.error("%s cannot be compacted: %s", log.partition, error)
            return
        except OSError as error:
            if not _has_changed(log, plan):
                raise directory.volume.fail(error) from error
            is_done = False
        if is_done:
            clean_logs = self._clean_logs(directory)
            clean_logs[log] = _Clean(cleaner.end_offset, plan.truncation_count)
            checkpoints = self._directories[directory]
            await checkpoints.save(checkpoint.CLEANER_OFFSETS, _offsets(clean_logs))
            _log.info(
                "compacted %s up to offset %d: %d of %d records left",
                log.partition,
                cleaner.end_offset,
                cleaner.records_retained,
                cleaner.records_read,
            )

    async def _rewrite(
        self, log: Log, plan: CleaningPlan, cleaner: Cleaner, stop: threading.Event
    ) -> bool:
        """Says whether all of it was swapped in: the log may change under the work."""
        segments = cleaner.segments()
        while True:
            cleaned = await in_thread(lambda: _next(segments), on_cancel=stop.set)
            if cleaned is None:
                return True
            if not swap_in(log, plan, cleaned, now_ms=self._clock.now_ms()):
                return False

    def _clean_logs(self, directory: LogDirectory) -> dict[Log, _Clean]:
        """What was cleaned and has not been cut or deleted since."""
        known = self._known.get(directory)
        if known is None:
            known = _read_clean_logs(directory)
        self._known[directory] = {
            log: clean
            for log, clean in known.items()
            if directory.logs.get(log.partition) is log
            and log.truncation_count == clean.truncation_count
        }
        return self._known[directory]

    def _workspace(self) -> Workspace:
        config = self._config()
        shares = max(1, config.log_cleaner_threads)
        return Workspace(
            seed=self._seed,
            key_map_bytes=config.log_cleaner_dedupe_buffer_size // shares,
            # One half to read into, one to write from.
            chunk_bytes=max(1, config.log_cleaner_io_buffer_size // shares // 2),
        )

    def _pace(self, stop: threading.Event) -> Pace:
        return Pace(
            self._config().log_cleaner_io_max_bytes_per_second,
            now_s=lambda: self._clock.monotonic_ns() / 1e9,
            sleep=stop.wait,
            is_cancelled=stop.is_set,
        )


def _read_clean_logs(directory: LogDirectory) -> dict[Log, _Clean]:
    path = f"{directory.volume.path}/{checkpoint.CLEANER_OFFSETS}"
    try:
        offsets = checkpoint.read_offsets(directory.volume.disk, path)
    except CheckpointError as error:
        _log.warning("%s: %s; compacting from the start", path, error)
        return {}
    return {
        directory.logs[name]: _Clean(offset, directory.logs[name].truncation_count)
        for name, offset in offsets.items()
        if name in directory.logs
    }


def _offsets(clean_logs: Mapping[Log, _Clean]) -> dict[TopicPartition, int]:
    return {log.partition: clean.end_offset for log, clean in clean_logs.items()}


def _next(segments: Iterator[CleanedSegment]) -> CleanedSegment | None:
    return next(segments, None)


def _has_changed(log: Log, plan: CleaningPlan) -> bool:
    """Whether files that the plan names may be gone for good reason."""
    present = {segment.base_offset for segment in log.segments}
    return (
        log.folder.path != plan.folder_path
        or log.truncation_count != plan.truncation_count
        or any(source.base_offset not in present for source in plan.sources)
    )
