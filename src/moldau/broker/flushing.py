"""Forcing logs to disk, in a thread, many waiting requests at a time."""

import asyncio

from moldau.log import flush
from moldau.log.flush import Flush
from moldau.log.log import Log
from moldau.runtime.clock import Clock
from moldau.runtime.disk import Disk
from moldau.runtime.threads import in_thread


class Flusher:
    """Runs at most one flush per log at a time.

    Who asks while one is running waits for the next one, together with all others who
    have asked by then.
    """

    def __init__(self, disk: Disk, clock: Clock) -> None:
        self._disk = disk
        self._clock = clock
        self._running: dict[Log, asyncio.Future[None]] = {}

    def is_due(self, log: Log) -> bool:
        """Whether `flush.messages` asks for a flush before anyone is told of an append."""
        return log.log_end_offset - log.recovery_point >= log.config.flush_messages

    async def flush(self, log: Log, end_offset: int) -> None:
        """Return when all before `end_offset` is durable; KAFKA_STORAGE_ERROR if it is not."""
        while log.recovery_point < min(end_offset, log.log_end_offset):
            running = self._running.get(log)
            if running is None:
                await self._flush(log, end_offset)
            else:
                await asyncio.shield(running)

    async def _flush(self, log: Log, end_offset: int) -> None:
        # Everything that is there: who asks next may find it done already.
        everything = end_offset > log.segments.active.base_offset
        work = flush.prepare(log, None if everything else end_offset)
        done = self._running[log] = asyncio.get_running_loop().create_future()
        try:
            await in_thread(lambda: work.run(self._disk))
            flush.complete(log, work, now_ms=self._clock.now_ms())
        except OSError as error:
            if not _was_deleted(log, work):
                raise log.folder.volume.fail(error) from error
        finally:
            del self._running[log]
            done.set_result(None)


def _was_deleted(log: Log, work: Flush) -> bool:
    """Whether the log's directory got another name while it was flushed."""
    return bool(work.directories) and log.folder.path not in work.directories
