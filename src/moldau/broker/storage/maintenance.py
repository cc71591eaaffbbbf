"""What a broker does without being asked: the background loops over its logs.

Each loop is a task of its own. A disk that fails takes its log directory offline and the
loops go on with the others; when no directory is left, or when anything else fails, the
broker stops.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module

from moldau.broker.storage.checkpoints import Checkpoints
from moldau.broker.storage.flushing import Flusher
from moldau.config.broker.broker import BrokerConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log import flush
from moldau.log.directory import LogDirectory, remove_tree
from moldau.log.log import Log
from moldau.log.retention import delete_old_segments
from moldau.runtime.clock import Clock
from moldau.runtime.disk import Disk
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

# Files are removed at most so long after their time.
_REMOVAL_INTERVAL_MS = 5_000
_DISK_CHECK_INTERVAL_MS = 500
_ROLL_CHECK_INTERVAL_MS = 2_000
# After so many logs other work gets its turn.
_LOGS_PER_TURN = 50


class EveryDirectoryOffline(Exception):
    """No log directory is left to serve from."""


class Maintenance:
    """The loops, and the work that each of them does."""

    def __init__(
        self,
        directories: Sequence[LogDirectory],
        flusher: Flusher,
        *,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        seed: bytes,
    ) -> None:
        """`seed` is 16 random bytes for the cleaner's hashes."""
        self._checkpoints = {directory: Checkpoints(directory) for directory in directories}
        self._flusher = flusher
        self._config = config
        self._clock = clock
        self._seed = seed

    async def run(self) -> None:
        """Work until cancelled."""
        loops: list[tuple[Callable[[], Awaitable[None]], Callable[[], int]]] = [
            (self.delete_old_segments, lambda: self._config().log.log_retention_check_interval_ms),
            (self.remove_files, lambda: _REMOVAL_INTERVAL_MS),
            (self.flush_complete_segments, lambda: _ROLL_CHECK_INTERVAL_MS),
            (self.flush_due, lambda: self._config().log.log_flush_scheduler_interval_ms),
            (
                self.save_recovery_points,
                lambda: self._config().log.log_flush_offset_checkpoint_interval_ms,
            ),
            (
                self.save_log_starts,
                lambda: self._config().log.log_flush_start_offset_checkpoint_interval_ms,
            ),
            (
                self.save_high_watermarks,
                lambda: self._config().replication.replica_high_watermark_checkpoint_interval_ms,
            ),
            (
                self.expire_producers,
                lambda: self._config().log.producer_id_expiration_check_interval_ms,
            ),
            (self.check_disks, lambda: _DISK_CHECK_INTERVAL_MS),
        ]
        async with asyncio.TaskGroup() as tasks:
            for work, interval_ms in loops:
                tasks.create_task(_repeat(work, interval_ms))
            if self._config().cleaner.log_cleaner_enable:
                tasks.create_task(self._clean())

    async def delete_old_segments(self) -> None:
        """Take what retention does not keep out of the logs."""
        async for log in self._each_log():
            count = delete_old_segments(log, now_ms=self._clock.now_ms())
            if count:
                _log.info(
                    "deleted %d old segments of %s, which now starts at offset %d",
                    count,
                    log.partition,
                    log.log_start_offset,
                )

    async def remove_files(self) -> None:
        """Remove files and directories that were deleted a while ago."""
        for directory in self._online():
            due = directory.expire(now_ms=self._clock.now_ms())
            if due:
                try:
                    await in_thread(partial(_remove, directory.volume.disk, due))
                except OSError as error:
                    directory.volume.fail(error)

    async def flush_complete_segments(self) -> None:
        """Force to disk the segments that are not appended to any more: recovery skips them."""
        async for log in self._each_log():
            end_offset = log.segments.active.base_offset
            if log.recovery_point < end_offset:
                await self._flusher.flush(log, end_offset)

    async def flush_due(self) -> None:
        """Force to disk what `flush.ms` or `flush.messages` does not let wait."""
        async for log in self._each_log():
            if flush.is_due(log, now_ms=self._clock.now_ms()):
                await self._flusher.flush(log, log.log_end_offset)

    async def save_recovery_points(self) -> None:
        for directory in self._online():
            with _offline_is_known():
                await self._checkpoints[directory].save_recovery_points()

    async def save_log_starts(self) -> None:
        for directory in self._online():
            with _offline_is_known():
                await self._checkpoints[directory].save_log_starts()

    async def save_high_watermarks(self) -> None:
        for directory in self._online():
            with _offline_is_known():
                await self._checkpoints[directory].save_high_watermarks()

    async def expire_producers(self) -> None:
        """Forget idempotent producers that have been silent for long."""
        async for log in self._each_log():
            log.expire_producers(now_ms=self._clock.now_ms())

    async def check_disks(self) -> None:
        """Stop when there is nothing left to serve from."""
        if not self._online():
            raise EveryDirectoryOffline("every log directory is offline")

    async def _clean(self) -> None:
        # The cleaner is loaded when the broker has long started: it is a good part of it.
        await asyncio.sleep(self._config().cleaner.log_cleaner_backoff_ms / 1000)
        await in_thread(partial(import_module, "moldau.broker.storage.cleaning"))
        from moldau.broker.storage.cleaning import Cleaning  # noqa: PLC0415

        cleaning = Cleaning(
            self._checkpoints,
            config=lambda: self._config().cleaner,
            clock=self._clock,
            seed=self._seed,
        )
        await cleaning.run()

    def _online(self) -> list[LogDirectory]:
        return [directory for directory in self._checkpoints if directory.volume.is_online]

    async def _each_log(self) -> AsyncIterator[Log]:
        """The logs that are there when it is their turn, on directories that are online."""
        turn = 0
        for directory in self._online():
            for log in tuple(directory.logs.values()):
                turn += 1
                if turn % _LOGS_PER_TURN == 0:
                    await asyncio.sleep(0)
                if directory.logs.get(log.partition) is log and directory.volume.is_online:
                    yield log


def _remove(disk: Disk, paths: Sequence[str]) -> None:
    for path in paths:
        remove_tree(disk, path)


async def _repeat(work: Callable[[], Awaitable[None]], interval_ms: Callable[[], int]) -> None:
    while True:
        await asyncio.sleep(interval_ms() / 1000)
        with _offline_is_known():
            await work()


@contextmanager
def _offline_is_known() -> Iterator[None]:
    """A disk that fails has said so when it went offline; the loops go on without it."""
    try:
        yield
    except KafkaError as error:
        if error.code != ErrorCode.KAFKA_STORAGE_ERROR:
            raise
