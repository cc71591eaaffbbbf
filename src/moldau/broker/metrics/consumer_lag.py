"""How far groups have read, under the names of kafka_exporter.

A broker knows the offsets of the groups that it coordinates, and the ends of the partitions
that it leads. Where it does not lead a partition it says nothing of the lag: what it has of
that log may be behind. In a cluster the two halves meet in Prometheus:

    kafka_topic_partition_current_offset
        - on (topic, partition) group_right kafka_consumergroup_current_offset
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice

from moldau.broker.broker import Broker
from moldau.model import TopicPartition
from moldau.runtime.metrics import Labels

SHOWN_MAX = 10_000
"""Offsets of groups on one page: each is a time series in Prometheus, twice."""


def register_consumer_lag(broker: Broker) -> None:
    """Make offsets of groups and ends of partitions readable."""
    metrics = broker.metrics
    metrics.gauges(
        "kafka_consumergroup_current_offset",
        "Offset that a group has committed for a partition, at the group's coordinator.",
        partial(_offsets, broker),
    )
    metrics.gauges(
        "kafka_consumergroup_lag",
        "Records from the offset that a group has committed to the high watermark, where the "
        "group's coordinator leads the partition too.",
        partial(_lags, broker),
    )
    metrics.gauges(
        "kafka_consumergroup_members",
        "Members of a group, at its coordinator.",
        partial(_members, broker),
    )
    metrics.gauge(
        "moldau_consumergroup_omitted_offsets",
        f"Offsets of groups that are not shown here, since there are more than {SHOWN_MAX}.",
        lambda: _omitted_count(broker),
    )
    metrics.gauges(
        "kafka_topic_partition_current_offset",
        "High watermark of a partition that this broker leads: what consumers can read up to.",
        partial(_ends, broker),
    )


def _committed(broker: Broker) -> Iterator[tuple[str, TopicPartition, int]]:
    for group in broker.groups.all():
        # A copy: others get their turn between two lines of the page.
        for partition, found in tuple(group.offsets.committed.items()):
            yield group.group_id, partition, found.offset


def _offsets(broker: Broker) -> Iterator[tuple[Labels, float]]:
    for group_id, partition, offset in islice(_committed(broker), SHOWN_MAX):
        yield _labels(group_id, partition), offset


def _lags(broker: Broker) -> Iterator[tuple[Labels, float]]:
    for group_id, partition, offset in islice(_committed(broker), SHOWN_MAX):
        replica = broker.replicas.find(partition)
        if replica is not None and replica.is_leader:
            yield _labels(group_id, partition), replica.log.high_watermark - offset


def _members(broker: Broker) -> Iterator[tuple[Labels, float]]:
    for group in islice(broker.groups.all(), SHOWN_MAX):
        yield (("consumergroup", group.group_id),), len(group.members)


def _omitted_count(broker: Broker) -> int:
    count = sum(len(group.offsets.committed) for group in broker.groups.all())
    return max(0, count - SHOWN_MAX)


def _ends(broker: Broker) -> Iterator[tuple[Labels, float]]:
    for replica in tuple(broker.replicas):
        if replica.is_leader:
            topic, partition = replica.topic_partition
            labels = (("topic", topic), ("partition", str(partition)))
            yield labels, replica.log.high_watermark


def _labels(group_id: str, partition: TopicPartition) -> Labels:
    return (
        ("consumergroup", group_id),
        ("topic", partition.topic),
        ("partition", str(partition.partition)),
    )
