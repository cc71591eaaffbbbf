"""Forcing logs to disk, in a thread, many waiting requests at a time."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from moldau.errors import KafkaStorageError
from moldau.log import flush
from moldau.log.flush import Flush
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.replication.replicas import Replicas
from moldau.runtime.clock import Clock
from moldau.runtime.disk import Disk
from moldau.runtime.threads import in_thread
from moldau.runtime.waiters import Waiters


class Flusher:
    """Runs at most one flush per log at a time.

    A caller that asks while one is running waits for the next one, together with all
    others that have asked by then.
    """

    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        *,
        flushed: Callable[[TopicPartition], None] = lambda _name: None,
    ) -> None:
        """`flushed` is called with every partition of which more is durable."""
        self._disk = disk
        self._clock = clock
        self._flushed = flushed
        self._running: dict[Log, asyncio.Future[None]] = {}
        self._wanted: dict[Log, None] = {}
        self._is_wanted = asyncio.Event()

    async def run(self) -> None:
        """Flush what was asked for by `flush_soon`, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._is_wanted.wait()
                self._is_wanted.clear()
                wanted, self._wanted = self._wanted, {}
                for log in wanted:
                    tasks.create_task(self._flush_or_fail(log))

    def flush_soon(self, log: Log) -> None:
        """Have everything in a log made durable, without waiting for it."""
        self._wanted[log] = None
        self._is_wanted.set()

    def is_due(self, log: Log) -> bool:
        """Whether `flush.messages` asks for a flush before an append is acknowledged."""
        return log.log_end_offset - log.recovery_point >= log.config.flush_messages

    async def flush_due(self, log: Log) -> None:
        """Make everything in a log durable, if `flush.messages` asks for it."""
        if self.is_due(log):
            await self._flush_or_fail(log)

    async def flush(self, log: Log, end_offset: int) -> None:
        """Return when all before `end_offset` is durable; KAFKA_STORAGE_ERROR if it is not."""
        while log.recovery_point < min(end_offset, log.log_end_offset):
            running = self._running.get(log)
            if running is None:
                await self._flush(log, end_offset)
            else:
                await asyncio.shield(running)

    async def _flush_or_fail(self, log: Log) -> None:
        # A disk that fails has said so by going offline.
        with suppress(KafkaStorageError):
            await self.flush(log, log.log_end_offset)

    async def _flush(self, log: Log, end_offset: int) -> None:
        # Everything that is there: the next caller may find it done already.
        everything = end_offset > log.segments.active.base_offset
        work = flush.prepare(log, None if everything else end_offset)
        done = self._running[log] = asyncio.get_running_loop().create_future()
        try:
            await in_thread(lambda: work.run(self._disk))
            flush.complete(log, work, now_ms=self._clock.now_ms())
            self._flushed(log.partition)
        except OSError as error:
            if not _was_deleted(log, work):
                raise log.folder.volume.fail(error) from error
        finally:
            del self._running[log]
            done.set_result(None)


def commit_flushed(replicas: Replicas, waiters: Waiters, name: TopicPartition) -> None:
    """More of a partition is durable: followers may have it, and it may be committed."""
    partition = replicas.find(name)
    if partition is not None and partition.is_leader:
        partition.advance_high_watermark()
        waiters.wake(name)


def _was_deleted(log: Log, work: Flush) -> bool:
    """Whether the log's directory got another name while it was flushed."""
    return bool(work.directories) and log.folder.path not in work.directories
