"""The controller's messages to brokers, gathered during one step and sent together.

LeaderAndIsr goes out before UpdateMetadata: when clients hear of a new leader, it must lead
already. A broker that has just come is told in an earlier step who the others are.
"""

from collections.abc import Iterable
from typing import NamedTuple

from moldau.controller.cluster import Cluster, LeaderIsr
from moldau.metadata.image import LEADER_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from moldau.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from moldau.protocol.primitives import NO_UUID

Request = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest


class Letter(NamedTuple):
    """One request for one broker."""

    broker_id: int
    request: Request


class Stop(NamedTuple):
    """A replica that a broker is to give up."""

    leader_epoch: int
    is_deletion: bool


class Outbox:
    """Collects by broker; `letters` hands everything over and starts anew."""

    def __init__(self, cluster: Cluster, *, controller_id: int, controller_epoch: int) -> None:
        self._cluster = cluster
        self._controller_id = controller_id
        self._controller_epoch = controller_epoch
        self._leader_and_isr: dict[int, dict[TopicPartition, bool]] = {}
        self._metadata: dict[int, dict[TopicPartition, None]] = {}
        self._stops: dict[int, dict[TopicPartition, Stop]] = {}

    def tell_leader(
        self, brokers: Iterable[int], partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Send the state of a partition to brokers that have a replica of it."""
        for broker in brokers:
            self._leader_and_isr.setdefault(broker, {})[partition] = is_new

    def tell_metadata(
        self, brokers: Iterable[int], partitions: Iterable[TopicPartition] = ()
    ) -> None:
        """Send where the brokers are, and who leads these partitions."""
        wanted = dict.fromkeys(partitions)
        for broker in brokers:
            self._metadata.setdefault(broker, {}).update(wanted)

    def tell_stop(self, brokers: Iterable[int], partition: TopicPartition, stop: Stop) -> None:
        """Have brokers give up their replica."""
        for broker in brokers:
            self._stops.setdefault(broker, {})[partition] = stop

    def letters(self) -> list[Letter]:
        """What is to be sent, to live brokers only, in this order."""
        live = self._cluster.brokers
        metadata, leader_and_isr, stops = self._metadata, self._leader_and_isr, self._stops
        self._metadata, self._leader_and_isr, self._stops = {}, {}, {}
        return [
            *(
                Letter(broker, self._leader_and_isr_request(broker, partitions))
                for broker, partitions in leader_and_isr.items()
                if broker in live
            ),
            *(
                Letter(broker, self._update_metadata(broker, partitions))
                for broker, partitions in metadata.items()
                if broker in live
            ),
            *(
                Letter(broker, self._stop_replica(broker, partitions))
                for broker, partitions in stops.items()
                if broker in live
            ),
        ]

    def _update_metadata(
        self, broker: int, partitions: Iterable[TopicPartition]
    ) -> UpdateMetadataRequest:
        topics: dict[str, UpdateMetadataTopicState] = {}
        for partition in partitions:
            state = self._metadata_of(partition)
            if state is not None:
                topic = topics.setdefault(
                    partition.topic,
                    UpdateMetadataTopicState(
                        topic_name=partition.topic,
                        topic_id=self._topic_id(partition.topic),
                        partition_states=[],
                    ),
                )
                topic.partition_states.append(state)
        return UpdateMetadataRequest(
            controller_id=self._controller_id,
            controller_epoch=self._controller_epoch,
            broker_epoch=self._cluster.brokers[broker].epoch,
            topic_states=list(topics.values()),
            live_brokers=self._live_brokers(),
        )

    def _metadata_of(self, partition: TopicPartition) -> UpdateMetadataPartitionState | None:
        state = self._cluster.leaders.get(partition)
        if state is None:
            return None
        is_deleted = partition.topic in self._cluster.deleting
        replicas = self._cluster.assignment(partition).replicas
        return UpdateMetadataPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=state.controller_epoch,
            leader=LEADER_DURING_DELETE if is_deleted else state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            zk_version=state.zk_version,
            replicas=list(replicas),
            offline_replicas=[one for one in replicas if one not in self._cluster.brokers],
        )

    def _live_brokers(self) -> list[UpdateMetadataBroker]:
        return [
            UpdateMetadataBroker(
                id=broker.id,
                endpoints=[
                    UpdateMetadataEndpoint(
                        port=endpoint.port,
                        host=endpoint.host,
                        listener=endpoint.listener,
                        security_protocol=endpoint.security_protocol,
                    )
                    for endpoint in broker.endpoints
                ],
                rack=broker.rack,
            )
            for broker in self._cluster.brokers.values()
        ]

    def _leader_and_isr_request(
        self, broker: int, partitions: dict[TopicPartition, bool]
    ) -> LeaderAndIsrRequest:
        topics: dict[str, LeaderAndIsrTopicState] = {}
        leaders: dict[int, None] = {}
        for partition, is_new in partitions.items():
            state = self._cluster.leaders[partition]
            leaders[state.leader] = None
            topic = topics.setdefault(
                partition.topic,
                LeaderAndIsrTopicState(
                    topic_name=partition.topic,
                    topic_id=self._topic_id(partition.topic),
                    partition_states=[],
                ),
            )
            topic.partition_states.append(self._state(partition, state, is_new=is_new))
        return LeaderAndIsrRequest(
            controller_id=self._controller_id,
            controller_epoch=self._controller_epoch,
            broker_epoch=self._cluster.brokers[broker].epoch,
            topic_states=list(topics.values()),
            live_leaders=[
                LeaderAndIsrLiveLeader(
                    broker_id=leader, host_name=endpoint.host, port=endpoint.port
                )
                for leader in leaders
                if leader in self._cluster.brokers
                for endpoint in self._cluster.brokers[leader].endpoints[:1]
            ],
        )

    def _state(
        self, partition: TopicPartition, state: LeaderIsr, *, is_new: bool
    ) -> LeaderAndIsrPartitionState:
        assignment = self._cluster.assignment(partition)
        return LeaderAndIsrPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=self._controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            partition_epoch=state.zk_version,
            replicas=list(assignment.replicas),
            adding_replicas=list(assignment.adding),
            removing_replicas=list(assignment.removing),
            is_new=is_new,
        )

    def _stop_replica(
        self, broker: int, partitions: dict[TopicPartition, Stop]
    ) -> StopReplicaRequest:
        topics: dict[str, StopReplicaTopicState] = {}
        for partition, stop in partitions.items():
            topic = topics.setdefault(
                partition.topic,
                StopReplicaTopicState(topic_name=partition.topic, partition_states=[]),
            )
            topic.partition_states.append(
                StopReplicaPartitionState(
                    partition_index=partition.partition,
                    leader_epoch=stop.leader_epoch,
                    delete_partition=stop.is_deletion,
                )
            )
        return StopReplicaRequest(
            controller_id=self._controller_id,
            controller_epoch=self._controller_epoch,
            broker_epoch=self._cluster.brokers[broker].epoch,
            topic_states=list(topics.values()),
        )

    def _topic_id(self, topic: str) -> bytes:
        return self._cluster.topics[topic].topic_id or NO_UUID
