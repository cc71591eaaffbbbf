"""Which broker coordinates a key, and what this one coordinates as leaders change.

A coordinator keeps its state in the partitions of an internal topic: whoever leads the
partition of a key coordinates it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from moldau.broker.internal_topics import CONSUMER_OFFSETS
from moldau.broker.partition_journal import PartitionJournal
from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group_coordinator import GroupCoordinator
from moldau.coordinator.shard import Ports
from moldau.coordinator.shards import Shards
from moldau.metadata.cache import MetadataCache
from moldau.model import TopicPartition
from moldau.replication.replicas import Changes
from moldau.runtime.clock import Clock
from moldau.runtime.waiters import Waiters


class Coordinators:
    """The shards of every internal topic, which follow the partitions' leadership."""

    def __init__(self, shards: Iterable[Shards[Any]], clock: Clock, *, acks: int = -1) -> None:
        self._shards: Mapping[str, Shards[Any]] = {each.topic: each for each in shards}
        self._clock = clock
        self._acks = acks

    def leadership_changed(self, changes: Changes) -> None:
        """Partitions have other leaders."""
        for partition in changes.leading:
            shards = self._shards.get(partition.topic_partition.topic)
            if shards is not None:
                journal = PartitionJournal(partition, self._clock, acks=self._acks)
                shards.lead(partition.topic_partition.partition, journal)
        self.resign(partition.topic_partition for partition in changes.following)

    def resign(self, partitions: Iterable[TopicPartition]) -> None:
        """This broker does not lead these partitions: it follows, or has no replica any more."""
        for name in partitions:
            shards = self._shards.get(name.topic)
            if shards is not None:
                shards.resign(name.partition)


def make_group_coordinator(
    config: GroupConfig,
    metadata: MetadataCache,
    *,
    clock: Clock,
    waiters: Waiters,
    new_uuid: Callable[[], bytes],
) -> GroupCoordinator:
    """The group coordinator, as yet without partitions."""
    ports = Ports(
        clock,
        waiters,
        commit_timeout_s=config.offsets_commit_timeout_ms / 1000,
        compression=config.offsets_topic_compression_codec,
    )
    shards = Shards(
        CONSUMER_OFFSETS,
        lambda: Groups(config),
        ports,
        partition_count=lambda: partition_count(
            metadata, CONSUMER_OFFSETS, config.offsets_topic_num_partitions
        ),
        load_max_bytes=config.offsets_load_buffer_size,
    )
    return GroupCoordinator(shards, config, ports, new_uuid=new_uuid)


def partition_count(metadata: MetadataCache, topic: str, configured: int) -> int:
    """How many partitions an internal topic has, or would have."""
    found = metadata.image.topics.get(topic)
    return configured if found is None else len(found.partitions)
