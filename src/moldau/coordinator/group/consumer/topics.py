"""What a group knows about the topics that its members subscribe to."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from moldau.metadata.image import ClusterImage, TopicImage
from moldau.protocol.primitives import NO_UUID

Racks = Mapping[int, tuple[str, ...]]

_NO_RACKS: Racks = {}


class ObservedTopic(NamedTuple):
    """A topic as of the last look at the cluster; the group's epoch moves when it changes."""

    topic_id: bytes
    partition_count: int
    racks: Racks = _NO_RACKS
    """By partition, where its replicas are; partitions without any rack are left out."""


KnownTopics = Mapping[str, ObservedTopic]


def known_topics(names: Iterable[str], image: ClusterImage) -> KnownTopics:
    """The topics that exist, of those with these names."""
    known = {}
    for name in names:
        topic = image.topics.get(name)
        if topic is not None and topic.topic_id != NO_UUID:
            known[name] = ObservedTopic(topic.topic_id, len(topic.partitions), _racks(topic, image))
    return known


def _racks(topic: TopicImage, image: ClusterImage) -> Racks:
    if all(broker.rack is None for broker in image.brokers.values()):
        return {}
    racks = {}
    for number, partition in topic.partitions.items():
        nodes = [image.brokers.get(replica) for replica in partition.replicas]
        found = sorted({node.rack for node in nodes if node is not None and node.rack is not None})
        if found:
            racks[number] = tuple(found)
    return racks
