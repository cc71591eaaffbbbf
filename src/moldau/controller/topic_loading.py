"""Reads topics and the leaders of their partitions into the controller's picture."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from moldau.controller.cluster import ClusterPicture
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.tree import Watch
from moldau.model import TopicPartition

_READ_TOGETHER = 500

WatchOf = Callable[[str], Watch]


class TopicLoading:
    """What a controller looks up of topics, for its term."""

    def __init__(self, cluster: ClusterPicture, reader: TreeReader, watch_of: WatchOf) -> None:
        """`watch_of` gives the watch that waits for changes of a topic."""
        self._cluster = cluster
        self._reader = reader
        self._watch_of = watch_of

    async def load(self, names: Sequence[str]) -> None:
        """Read topics and the leaders of their partitions, many at a time."""
        cluster = self._cluster
        for start in range(0, len(names), _READ_TOGETHER):
            some = names[start : start + _READ_TOGETHER]
            await asyncio.gather(*map(self._load_topic, some))
            await self.reload(
                partition
                for name in some
                for partition in cluster.partitions_of(name)
                if partition not in cluster.leaders
            )

    async def settings(self, names: Iterable[str]) -> dict[str, dict[str, str] | None]:
        """What topics have been set to as their nodes say now; None for what cannot be parsed."""
        wanted = sorted(names)
        found: dict[str, dict[str, str] | None] = {}
        for start in range(0, len(wanted), _READ_TOGETHER):
            some = wanted[start : start + _READ_TOGETHER]
            read = await asyncio.gather(*map(self._reader.settings, some))
            found.update(zip(some, read, strict=True))
        return found

    async def reload(self, partitions: Iterable[TopicPartition]) -> None:
        """Read the leaders of partitions, and their in-sync sets."""
        await asyncio.gather(*map(self._load_state, partitions))

    async def _load_topic(self, name: str) -> None:
        found = await self._reader.topic(name, self._watch_of(name))
        if found is not None:
            topic = self._cluster.topics.setdefault(name, found)
            # Of a known topic only new partitions are news: all else that is there was written
            # by controllers, or by hand, which must not take away what brokers have.
            topic.partitions = found.partitions | topic.partitions

    async def _load_state(self, partition: TopicPartition) -> None:
        found = await self._reader.state(partition)
        if found is not None:
            self._cluster.note_state(partition, *found)
