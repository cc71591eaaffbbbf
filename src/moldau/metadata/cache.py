"""What the controller has sent this broker about the cluster."""

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from moldau.metadata.image import (
    LEADER_DURING_DELETE,
    BrokerEndpoint,
    BrokerNode,
    ClusterImage,
    PartitionImage,
    TopicImage,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from moldau.protocol.primitives import NO_UUID

_SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class MetadataChange(NamedTuple):
    """An update, and what it was made from."""

    before: ClusterImage
    after: ClusterImage
    deleted: list[TopicPartition]
    """The partitions that are gone with it."""


class MetadataCache:
    """Holds the current image; each UpdateMetadata makes a new one.

    Readers keep the image they started with, so an answer never mixes two states.
    """

    def __init__(self) -> None:
        self.image = ClusterImage()

    def changes(self, request: UpdateMetadataRequest) -> Generator[None, None, MetadataChange]:
        """What an update makes of the image, which stays as it is; pauses after every partition."""
        image = self.image
        topics = dict(image.topics)
        names_by_id = dict(image.names_by_id)
        deleted = []
        for name, topic_id, states in _by_topic(request):
            known = topics.get(name)
            partitions = dict(known.partitions) if known else {}
            for state in states:
                yield
                if state.leader == LEADER_DURING_DELETE:
                    partitions.pop(state.partition_index, None)
                    deleted.append(TopicPartition(name, state.partition_index))
                else:
                    partitions[state.partition_index] = _partition(state)
            if known and known.topic_id != topic_id:
                names_by_id.pop(known.topic_id, None)
            if partitions:
                topics[name] = TopicImage(name, topic_id, partitions)
                names_by_id[topic_id] = name
            elif known:
                del topics[name]
                names_by_id.pop(topic_id, None)
        names_by_id.pop(NO_UUID, None)
        brokers = {broker.id: _broker(broker) for broker in request.live_brokers}
        changed = ClusterImage(request.controller_id, brokers, topics, names_by_id)
        return MetadataChange(image, changed, deleted)


def _by_topic(
    request: UpdateMetadataRequest,
) -> Iterator[tuple[str, bytes, Iterable[UpdateMetadataPartitionState]]]:
    for topic in request.topic_states:
        yield topic.topic_name, topic.topic_id, topic.partition_states
    for state in request.ungrouped_partition_states:
        yield state.topic_name, NO_UUID, (state,)


def _partition(state: UpdateMetadataPartitionState) -> PartitionImage:
    return PartitionImage(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        offline_replicas=tuple(state.offline_replicas),
        zk_version=state.zk_version,
    )


def _broker(broker: UpdateMetadataBroker) -> BrokerNode:
    endpoints = {
        # Before version 3 a listener has no name but that of what it speaks.
        endpoint.listener or _SECURITY_PROTOCOLS[endpoint.security_protocol]: BrokerEndpoint(
            endpoint.host, endpoint.port, endpoint.security_protocol
        )
        for endpoint in broker.endpoints
    }
    if broker.v0_host:
        endpoints[_SECURITY_PROTOCOLS[0]] = BrokerEndpoint(broker.v0_host, broker.v0_port)
    return BrokerNode(broker.id, endpoints, broker.rack or None)
