"""Compaction in the background: chooses a log, has a thread rewrite it, swaps the result in."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping

from moldau.broker.storage.checkpoints import Checkpoints
from moldau.config.broker.cleaner import CleanerConfig
from moldau.errors import KafkaError, ProtocolError
from moldau.log import checkpoint
from moldau.log.cleaner import CleanedSegment, Cleaner, KeyMapTooSmall, Workspace
from moldau.log.cleaning_swap import swap_in
from moldau.log.compactions import Compactions, Job
from moldau.log.directory import LogDirectory
from moldau.log.pace import Pace
from moldau.runtime.clock import Clock
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)


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
        self._compactions = Compactions()
        self._loaded: set[LogDirectory] = set()

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
        """Compact the log that needs it most; returns whether there was one."""
        online = [directory for directory in self._directories if directory.volume.is_online]
        for directory in online:
            self._load(directory)
        homes = {log: directory for directory in online for log in directory.logs.values()}
        job = self._compactions.begin(homes, now_ms=self._clock.now_ms())
        if job is None:
            return False
        try:
            await self._compact(job, homes[job.log])
        except KafkaError as error:
            _log.warning("Failed to compact %s: %s", job.log.partition, error)
        finally:
            self._compactions.release(job)
        return True

    def _load(self, directory: LogDirectory) -> None:
        """Once, when its logs are open: what is clean is known by log."""
        if directory not in self._loaded:
            self._loaded.add(directory)
            volume = directory.volume
            self._compactions.load(volume.disk, volume.path, directory.logs)

    async def _compact(self, job: Job, directory: LogDirectory) -> None:
        stop = threading.Event()
        cleaner = Cleaner(directory.volume.disk, job.plan, self._workspace(), self._pace(stop))
        try:
            is_done = await self._rewrite(job, cleaner, stop)
        except (ProtocolError, KeyMapTooSmall) as error:
            self._compactions.give_up(job)
            _log.error("Failed to compact %s, not trying again: %s", job.log.partition, error)
            return
        except OSError as error:
            if not job.has_changed():
                raise directory.volume.fail(error) from error
            is_done = False
        if is_done:
            self._compactions.finish(job, cleaner.end_offset)
            offsets = self._compactions.clean_offsets(directory.logs.values())
            await self._directories[directory].save(checkpoint.CLEANER_OFFSETS, offsets)
            _log.info(
                "compacted %s up to offset %d: %d of %d records left",
                job.log.partition,
                cleaner.end_offset,
                cleaner.records_retained,
                cleaner.records_read,
            )

    async def _rewrite(self, job: Job, cleaner: Cleaner, stop: threading.Event) -> bool:
        """Says whether all of it was swapped in: the log may change under the work."""
        segments = cleaner.segments()
        while True:
            cleaned = await in_thread(lambda: _next(segments), on_cancel=stop.set)
            if cleaned is None:
                return True
            if not swap_in(job.log, job.plan, cleaned, now_ms=self._clock.now_ms()):
                return False

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


def _next(segments: Iterator[CleanedSegment]) -> CleanedSegment | None:
    return next(segments, None)
