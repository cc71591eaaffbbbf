"""Replicas that move between the log directories of this broker, one after the other."""

import asyncio
import logging
from collections.abc import Callable

from moldau.broker.storage.flushing import Flusher
from moldau.broker.storage.logs import Logs
from moldau.errors import ErrorCode, KafkaError
from moldau.log.directory import LogDirectory
from moldau.log.move import LogMove
from moldau.model import TopicPartition
from moldau.replication.replicas import Replicas
from moldau.replication.throttle import ThrottledRate
from moldau.runtime.clock import Clock
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

RANGE_BYTES = 2**20
_PAUSE_S = 0.1


class LogMoves:
    """Takes orders, and carries them out in the background."""

    def __init__(
        self,
        logs: Logs,
        replicas: Replicas,
        flusher: Flusher,
        *,
        clock: Clock,
        new_uuid_hex: Callable[[], str],
    ) -> None:
        self._logs = logs
        self._replicas = replicas
        self._flusher = flusher
        self._clock = clock
        self._new_uuid_hex = new_uuid_hex
        self.throttle: ThrottledRate | None = None
        self._wanted: dict[TopicPartition, LogDirectory] = {}
        self._is_something_wanted = asyncio.Event()
        logs.drop_duplicates(now_ms=clock.now_ms())
        for directory in logs.directories:
            for partition in directory.interrupted:
                self._want(partition, directory)

    def order(self, partition: TopicPartition, path: str) -> None:
        """Have a replica moved to the log directory at `path`; raises if that cannot be."""
        target = next((one for one in self._logs.directories if one.volume.path == path), None)
        if target is None:
            message = f"{path} is not one of log.dirs"
            raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND, message)
        target.volume.require_online()
        self._replicas.replica(partition).log.folder.volume.require_online()
        self._want(partition, target)

    async def run(self) -> None:
        """Carry out what was ordered, until cancelled."""
        while True:
            await self._is_something_wanted.wait()
            partition = next(iter(self._wanted))
            await self._carry_out(partition, self._wanted[partition])
            if not self._wanted:
                self._is_something_wanted.clear()

    def _want(self, partition: TopicPartition, target: LogDirectory) -> None:
        self._wanted[partition] = target
        self._is_something_wanted.set()

    async def _carry_out(self, partition: TopicPartition, target: LogDirectory) -> None:
        source = self._logs.directory_of(partition)
        try:
            if source is not None and source is not target:
                await self._move(partition, source, target)
        except KafkaError as error:
            _log.warning("Failed to move %s to %s: %s", partition, target.volume.path, error)
        # Another order may have come in the meantime: then the move begins again.
        if self._wanted.get(partition) is target:
            del self._wanted[partition]

    async def _move(
        self, partition: TopicPartition, source: LogDirectory, target: LogDirectory
    ) -> None:
        unique, now_ms = self._new_uuid_hex(), self._clock.now_ms()
        move = LogMove(partition, source, target, unique=unique, now_ms=now_ms)
        is_done = False
        try:
            # What is copied by now becomes durable before the log's own files are given up.
            await self._copy(move)
            await self._flusher.flush(move.copy, move.copy.log_end_offset)
            await self._copy(move)
            if self._is_wanted(move):
                log = move.complete(now_ms=self._clock.now_ms())
                self._replicas.replace_log(partition, log)
                is_done = True
                _log.info("Moved %s to %s", partition, target.volume.path)
        finally:
            if not is_done:
                move.abandon(now_ms=self._clock.now_ms())

    async def _copy(self, move: LogMove) -> None:
        while self._is_wanted(move):
            if self._is_held_up():
                await asyncio.sleep(_PAUSE_S)
                continue
            found = move.next_range(RANGE_BYTES, now_ms=self._clock.now_ms())
            if found is None:
                return
            try:
                data = await in_thread(found.read)
            except OSError as error:
                raise move.source.volume.fail(error) from error
            move.append(data, now_ms=self._clock.now_ms())
            if self.throttle is not None:
                self.throttle.record(len(data), now_ms=self._clock.monotonic_ms())

    def _is_held_up(self) -> bool:
        return self.throttle is not None and self.throttle.is_exceeded(
            now_ms=self._clock.monotonic_ms()
        )

    def _is_wanted(self, move: LogMove) -> bool:
        return move.is_possible and self._wanted.get(move.partition) is move.target
