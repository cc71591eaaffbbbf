"""Follows leaders: a task and a connection for each leader and fetcher.

Partitions come to the fetcher of their leader at once, also while its request waits at the
leader for records: that request is given up, since the newcomers may hold up producers.
"""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from moldau.model import TopicPartition
from moldau.replication.fetch_loop import FetchLoop, Terms
from moldau.replication.partition import NO_LEADER, Partition
from moldau.runtime.waiters import Waiters


class _Place(NamedTuple):
    """Where a partition is followed."""

    loop: FetchLoop
    partition: Partition


class Fetching:
    """All the partitions that this broker follows."""

    def __init__(self, terms: Terms, waiters: Waiters) -> None:
        self.terms = terms
        self._waiters = waiters
        self._loops: dict[tuple[int, int], FetchLoop] = {}
        self._left: dict[int, FetchLoop] = {}
        """By leader, the last loop of one that was left in doubt."""
        self._places: dict[TopicPartition, _Place] = {}
        self._tasks: dict[FetchLoop, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._is_ended = False

    def __len__(self) -> int:
        """How many partitions are followed."""
        return len(self._places)

    @property
    def largest_lag(self) -> int:
        """How far the last of them is behind its leader."""
        return max((loop.fetcher.largest_lag for loop in self._loops.values()), default=0)

    def leaders_in_doubt(self) -> frozenset[int]:
        """Leaders that seem to be gone: the controller is about to have others lead.

        That one is followed no more is known here before all of the cluster's metadata is.
        """
        found = {loop.leader_in_doubt for loop in (*self._loops.values(), *self._left.values())}
        return frozenset(one for one in found if one is not None)

    def follow(self, partitions: Iterable[Partition]) -> None:
        """Fetch partitions from the leaders that they have now, instead of earlier ones."""
        touched: dict[FetchLoop, None] = {}
        for partition in partitions:
            self._drop(partition.topic_partition)
            if partition.state.leader == NO_LEADER or self._is_ended:
                continue
            loop = self._loop_for(partition)
            loop.follow(partition)
            self._places[partition.topic_partition] = _Place(loop, partition)
            touched[loop] = None
        for loop in touched:
            loop.interrupt()
        self._end_idle()

    def divide(self) -> None:
        """Divide the partitions anew: there may be more fetchers for each leader, or less."""
        self.follow(
            [
                partition
                for loop, partition in self._places.values()
                if self._loops.get(self._key_of(partition)) is not loop
            ]
        )

    def stop(self, names: Iterable[TopicPartition]) -> None:
        """Follow these partitions no more: they are led here, or gone."""
        for name in names:
            self._drop(name)
        self._end_idle()

    def end(self) -> None:
        """Follow nothing from now on: this broker stops, and is not to count as in sync."""
        self._is_ended = True
        self.stop(list(self._places))

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for loop in self._loops.values():
                self._start(loop)
            await asyncio.get_running_loop().create_future()

    def _drop(self, name: TopicPartition) -> None:
        place = self._places.pop(name, None)
        if place is not None:
            place.loop.drop(name)

    def _key_of(self, partition: Partition) -> tuple[int, int]:
        """The leader of a partition, and which of the fetchers for that leader has it."""
        name = partition.topic_partition
        count = self.terms.config().num_replica_fetchers
        return partition.state.leader, (crc32(name.topic.encode()) + name.partition) % count

    def _loop_for(self, partition: Partition) -> FetchLoop:
        key = self._key_of(partition)
        loop = self._loops.get(key)
        if loop is None:
            self._left.pop(key[0], None)  # the controller says that it leads
            loop = self._loops[key] = FetchLoop(key[0], self.terms, self._waiters)
            self._start(loop)
        return loop

    def _start(self, loop: FetchLoop) -> None:
        if self._group is not None:
            self._tasks[loop] = self._group.create_task(loop.run())

    def _end_idle(self) -> None:
        for key, loop in list(self._loops.items()):
            if not loop.fetcher:
                del self._loops[key]
                if loop.leader_in_doubt is not None:
                    self._left[key[0]] = loop
                task = self._tasks.pop(loop, None)
                if task is not None:
                    task.cancel()
