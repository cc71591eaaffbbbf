"""The shards of one internal topic on this broker: loaded, served, closed as leaders change."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

from moldau.coordinator.counts import LoadTimes
from moldau.coordinator.java_hash import partition_of
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Journal, Shard, ShardMachine, ShardPorts
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.runtime.garbage import keep_loaded
from moldau.runtime.threads import in_thread

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=ShardMachine)  # type: ignore[type-arg]

_STEP_MAX_NS = 10_000_000
_PIECE_MAX_BYTES = 1 << 20


class Shards(Generic[M]):
    """Finds the shard of a key; `run` loads new ones and keeps their deadlines."""

    def __init__(
        self,
        topic: str,
        new_machine: Callable[[], M],
        ports: ShardPorts,
        *,
        partition_count: Callable[[], int],
        load_max_bytes: int = 5_242_880,
    ) -> None:
        self.topic = topic
        self.load_times = LoadTimes()
        self._new_machine = new_machine
        self._ports = ports
        self._partition_count = partition_count
        self._load_max_bytes = load_max_bytes
        self._shards: dict[int, Shard[M]] = {}
        self._loads: asyncio.Queue[Shard[M]] = asyncio.Queue()
        self._next_ms: int | None = None
        self._changed = asyncio.Event()

    def __iter__(self) -> Iterator[Shard[M]]:
        """The shards that are loaded."""
        return iter([shard for shard in self._shards.values() if shard.is_loaded])

    @property
    def is_loading(self) -> bool:
        return any(not shard.is_loaded for shard in self._shards.values())

    def partition_of(self, key: str) -> int:
        """The partition of the topic that keeps a key."""
        return partition_of(key, self._partition_count())

    def of(self, key: str) -> Shard[M]:
        """The shard of a key; raises if it is another broker's, or not loaded yet."""
        return self.at(self.partition_of(key))

    def at(self, partition: int) -> Shard[M]:
        """The shard of a partition of the topic."""
        shard = self._shards.get(partition)
        if shard is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        shard.require_loaded()
        return shard

    def lead(self, partition: int, journal: Journal) -> None:
        """This broker leads a partition; one that it led before stays as it is.

        What could not be loaded is tried again: the log may have been mended.
        """
        known = self._shards.get(partition)
        if known is not None and not known.has_failed:
            known.journal = journal
            return
        shard = self._shards[partition] = Shard(self._new_machine(), journal, self._ports)
        self._loads.put_nowait(shard)

    def resign(self, partition: int) -> None:
        """Another broker leads a partition, or none does."""
        shard = self._shards.pop(partition, None)
        if shard is not None:
            shard.close()

    def note_deadline(self, shard: Shard[M]) -> None:
        """Something in a shard may be due earlier than was known."""
        due_ms = shard.machine.next_deadline_ms()
        if due_ms is not None and (self._next_ms is None or due_ms < self._next_ms):
            self._changed.set()

    async def run(self) -> None:
        """Serve until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._load_all())
            tasks.create_task(self._keep_deadlines())

    # Loading: one partition after the other, so that the steps of all together stay short.

    async def _load_all(self) -> None:
        while True:
            shard = await self._loads.get()
            try:
                await self._load(shard)
            except (KafkaError, ProtocolError) as error:
                shard.has_failed = True
                # It stays unloaded: serving half of a log would give out wrong answers.
                _log.error("Failed to load %s: %s", shard.journal.name, error)

    async def _load(self, shard: Shard[M]) -> None:
        max_bytes = min(self._load_max_bytes, _PIECE_MAX_BYTES)
        loading = Loading(shard.journal, shard.machine, max_bytes=max_bytes)
        clock = self._ports.clock
        started_ms = clock.monotonic_ms()
        while not loading.is_done and not shard.is_closed:
            data = await loading.read()
            keep_loaded()
            began_ns = clock.monotonic_ns()
            for sealed in loading.replay(data, now=self._ports.now()):
                if sealed is not None:
                    await in_thread(sealed.open)
                elif clock.monotonic_ns() - began_ns > _STEP_MAX_NS:
                    await asyncio.sleep(0)
                else:
                    continue
                began_ns = clock.monotonic_ns()
        if not shard.is_closed:
            shard.begin()
            self.load_times.note(clock.monotonic_ms() - started_ms)
            self.note_deadline(shard)

    # Deadlines

    async def _keep_deadlines(self) -> None:
        while True:
            self._changed.clear()
            self._next_ms = self.expire()
            wait_s = None
            if self._next_ms is not None:
                wait_s = max(self._next_ms - self._ports.clock.monotonic_ms(), 0) / 1000
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()

    def expire(self) -> int | None:
        """Act on what is due in any shard; says when the next deadline is."""
        deadlines = []
        for shard in self:
            now = self._ports.now()
            due_ms = shard.machine.next_deadline_ms()
            if due_ms is not None and due_ms <= now.monotonic_ms:
                for error in shard.expire(now=now):
                    _log.warning("Failed to append to %s: %s", shard.journal.name, error)
                due_ms = shard.machine.next_deadline_ms()
            if due_ms is not None:
                deadlines.append(due_ms)
        return min(deadlines, default=None)
