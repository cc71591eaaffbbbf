"""Which broker coordinates a key, and what this one coordinates as leaders change.

A coordinator keeps its state in the partitions of an internal topic: the leader of
the partition of a key coordinates it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from moldau.broker.coordination.partition_journal import PartitionJournal
from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE
from moldau.config.broker.broker import BrokerConfig
from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.consumer.pattern_topics import PatternTopics
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group_coordinator import GroupCoordinator
from moldau.coordinator.shard import ShardPorts
from moldau.coordinator.shards import Shards
from moldau.coordinator.transaction.transactions import Transactions
from moldau.coordinator.transaction_coordinator import TransactionCoordinator
from moldau.metadata.cache import MetadataCache
from moldau.metadata.image import NO_LEADER
from moldau.model import TopicPartition
from moldau.replication.replicas import RoleChanges
from moldau.runtime.clock import Clock
from moldau.runtime.waiters import Waiters


class Coordinators:
    """The shards of every internal topic, which follow the partitions' leadership."""

    def __init__(self, acks: Mapping[Shards[Any], int], clock: Clock) -> None:
        """`acks` are the acknowledgements that the records of each need."""
        self._shards = {shards.topic: shards for shards in acks}
        self._acks = acks
        self._clock = clock

    def leadership_changed(self, changes: RoleChanges) -> None:
        """Partitions have other leaders."""
        for partition in changes.leading:
            shards = self._shards.get(partition.topic_partition.topic)
            if shards is not None:
                journal = PartitionJournal(partition, self._clock, acks=self._acks[shards])
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
    ports = ShardPorts(
        clock,
        waiters,
        commit_timeout_s=config.offsets_commit_timeout_ms / 1000,
        compression=config.offsets_topic_compression_codec,
    )
    patterns = PatternTopics(lambda: metadata.image)
    shards = Shards(
        CONSUMER_OFFSETS,
        lambda: Groups(config, lambda: metadata.image, patterns.resolve),
        ports,
        partition_count=lambda: partition_count(
            metadata, CONSUMER_OFFSETS, config.offsets_topic_num_partitions
        ),
        load_max_bytes=config.offsets_load_buffer_size,
    )
    return GroupCoordinator(shards, config, ports, new_uuid=new_uuid, patterns=patterns)


def make_transaction_coordinator(
    config: BrokerConfig,
    metadata: MetadataCache,
    *,
    clock: Clock,
    waiters: Waiters,
    new_producer_id: Callable[[], Awaitable[int]],
) -> TransactionCoordinator:
    """The transaction coordinator, as yet without partitions."""
    transactions = config.transactions
    ports = ShardPorts(clock, waiters, commit_timeout_s=config.general.request_timeout_ms / 1000)
    shards = Shards(
        TRANSACTION_STATE,
        lambda: Transactions(transactions),
        ports,
        partition_count=lambda: partition_count(
            metadata, TRANSACTION_STATE, transactions.transaction_state_log_num_partitions
        ),
        load_max_bytes=transactions.transaction_state_log_load_buffer_size,
    )
    return TransactionCoordinator(shards, transactions, ports, new_producer_id=new_producer_id)


def leader_of_member(metadata: MetadataCache, partition: TopicPartition) -> int | None:
    """The leader that gets the transaction marker: None if the partition is gone."""
    image = metadata.image
    found = image.partition(*partition)
    if found is not None:
        return found.leader
    # All of the metadata comes at once; until then a missing partition means nothing.
    return None if TRANSACTION_STATE in image.topics else NO_LEADER


def partition_count(metadata: MetadataCache, topic: str, configured: int) -> int:
    """How many partitions an internal topic has, or would have."""
    found = metadata.image.topics.get(topic)
    return configured if found is None else len(found.partitions)
