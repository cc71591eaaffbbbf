"""What a consumer can be asked about topics, whether it reads them or not."""

from collections.abc import Iterable, Mapping

from moldau.client.connection.cluster import Cluster
from moldau.client.lifetime import Lifetime
from moldau.client.offset_lookup import EARLIEST, LATEST, OffsetLookup
from moldau.client.record import OffsetAndTimestamp
from moldau.model import TopicPartition


class LogQueries:
    """Requests to the leaders of the partitions."""

    _cluster: Cluster
    _offsets: OffsetLookup
    _lifetime: Lifetime

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Where the logs of partitions begin."""
        found = await self._offsets.find(dict.fromkeys(partitions, EARLIEST))
        return {partition: each.offset for partition, each in found.items()}

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the logs of partitions end, for readers."""
        found = await self._offsets.find(dict.fromkeys(partitions, LATEST))
        return {partition: each.offset for partition, each in found.items()}

    async def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first records at or after these times; None where there is none so late."""
        found = await self._offsets.find(times_ms)
        return {
            partition: None if each.offset < 0 else OffsetAndTimestamp(*each)
            for partition, each in found.items()
        }

    async def partitions_of(self, topic: str) -> list[TopicPartition]:
        """The partitions of a topic, which is created if `allow.auto.create.topics` says so."""
        self._lifetime.check()
        await self._cluster.require_topic(topic, timeout_s=self._cluster.timeout_s)
        return [TopicPartition(topic, each) for each in self._cluster.metadata.partitions_of(topic)]
