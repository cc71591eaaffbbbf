"""What the controller has to send to brokers, gathered for each until it can be sent.

Only the names of what is to be sent are kept here; its state is looked up when requests are
made. So a broker that is slow to answer receives the latest, once, and what waits for it is
never more than the partitions that there are.

LeaderAndIsr is sent before UpdateMetadata: when clients learn of a new leader, it must lead
already. The live brokers are sent before both, since followers must find their leaders. A
broker that has just come receives all topics at the same time: as soon as it knows brokers,
clients believe it that a topic does not exist.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.controller.cluster import ClusterPicture, LeaderIsr
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

PLAINTEXT = "PLAINTEXT"

Request = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest


class BrokerRequest(NamedTuple):
    """One request for one broker."""

    broker_id: int
    message: Request


class ReplicaStop(NamedTuple):
    """A replica that a broker is to give up."""

    leader_epoch: int
    is_deletion: bool


@dataclass(slots=True)
class _Pending:
    """What has not been sent to one broker yet."""

    are_brokers_news: bool = False
    is_newcomer: bool = False
    leaders: dict[TopicPartition, bool] = field(default_factory=dict)
    """Partitions by whether they are new."""
    metadata: dict[TopicPartition, None] = field(default_factory=dict)
    stops: dict[TopicPartition, ReplicaStop] = field(default_factory=dict)


class _Fact(NamedTuple):
    """What UpdateMetadata says of a partition."""

    state: LeaderIsr
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    is_deleted: bool

    def message(self, partition: TopicPartition) -> UpdateMetadataPartitionState:
        return UpdateMetadataPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=self.state.controller_epoch,
            leader=LEADER_DURING_DELETE if self.is_deleted else self.state.leader,
            leader_epoch=self.state.leader_epoch,
            isr=list(self.state.isr),
            zk_version=self.state.zk_version,
            replicas=list(self.replicas),
            offline_replicas=list(self.offline_replicas),
        )


class Outbox:
    """Collects by broker; `requests` hands over what waits for one of them."""

    def __init__(
        self,
        cluster: ClusterPicture,
        *,
        controller_id: int,
        controller_epoch: int,
        listener: str = PLAINTEXT,
    ) -> None:
        """`listener` is what brokers call each other by."""
        self._cluster = cluster
        self._controller_id = controller_id
        self._controller_epoch = controller_epoch
        self._listener = listener
        self._pending: dict[int, _Pending] = {}
        self._made: dict[TopicPartition, tuple[_Fact, UpdateMetadataPartitionState]] = {}

    def add_live_brokers(self, brokers: Iterable[int]) -> None:
        """Send the live brokers and their addresses."""
        for broker in brokers:
            self._of(broker).are_brokers_news = True

    def add_everything(self, newcomers: Iterable[int]) -> None:
        """Send all there is to know to brokers that know nothing."""
        for broker in newcomers:
            pending = self._of(broker)
            pending.are_brokers_news = pending.is_newcomer = True
            pending.metadata.update(dict.fromkeys(self._cluster.leaders))

    def add_leader_and_isr(
        self, brokers: Iterable[int], partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """Send the state of a partition to brokers that have a replica of it."""
        for broker in brokers:
            pending = self._of(broker)
            pending.leaders[partition] = is_new or pending.leaders.get(partition, False)
            # Its replica is wanted again before it was given up.
            pending.stops.pop(partition, None)

    def add_update_metadata(
        self, brokers: Iterable[int], partitions: Iterable[TopicPartition]
    ) -> None:
        """Send the leaders of these partitions."""
        wanted = dict.fromkeys(partitions)
        for broker in brokers:
            self._of(broker).metadata.update(wanted)

    def add_stop_replica(
        self, brokers: Iterable[int], partition: TopicPartition, stop: ReplicaStop
    ) -> None:
        """Have brokers give up their replica."""
        for broker in brokers:
            pending = self._of(broker)
            pending.stops[partition] = stop
            pending.leaders.pop(partition, None)

    def drop(self, broker: int) -> None:
        """The broker is gone, and so is what was to be sent to it."""
        self._pending.pop(broker, None)

    def waiting(self) -> list[int]:
        """The live brokers for which there are requests."""
        return [broker for broker in self._pending if broker in self._cluster.brokers]

    def requests(self, broker: int) -> list[BrokerRequest]:
        """What is to be sent to a live broker now, in this order."""
        pending = self._pending.pop(broker, None)
        if pending is None:
            return []
        messages: list[Request] = []
        metadata = [name for name in pending.metadata if self._is_led(name)]
        if pending.are_brokers_news:
            first, metadata = (metadata, []) if pending.is_newcomer else ([], metadata)
            messages.append(self._update_metadata(broker, first))
        leaders = {name: new for name, new in pending.leaders.items() if self._is_led(name)}
        if leaders:
            messages.append(self._leader_and_isr_request(broker, leaders))
        if metadata:
            messages.append(self._update_metadata(broker, metadata))
        for is_deletion in (False, True):
            stops = {
                name: stop
                for name, stop in pending.stops.items()
                if stop.is_deletion is is_deletion
            }
            if stops:
                messages.append(self._stop_replica(broker, stops))
        return [BrokerRequest(broker, message) for message in messages]

    def _of(self, broker: int) -> _Pending:
        return self._pending.setdefault(broker, _Pending())

    def _is_led(self, partition: TopicPartition) -> bool:
        """Whether there is something to send: the topic may be gone, or wait for a leader."""
        return partition in self._cluster.leaders

    def _update_metadata(
        self, broker: int, partitions: Iterable[TopicPartition]
    ) -> UpdateMetadataRequest:
        topics: dict[str, UpdateMetadataTopicState] = {}
        for partition in partitions:
            topic = topics.setdefault(
                partition.topic,
                UpdateMetadataTopicState(
                    topic_name=partition.topic,
                    topic_id=self._topic_id(partition.topic),
                    partition_states=[],
                ),
            )
            topic.partition_states.append(self._metadata_of(partition))
        return UpdateMetadataRequest(
            controller_id=self._controller_id,
            controller_epoch=self._controller_epoch,
            broker_epoch=self._cluster.brokers[broker].epoch,
            topic_states=list(topics.values()),
            live_brokers=self._live_brokers(),
        )

    def _metadata_of(self, partition: TopicPartition) -> UpdateMetadataPartitionState:
        """What is sent of a partition to all brokers: made once for all of them."""
        cluster = self._cluster
        assignment = cluster.assignment(partition)
        fact = _Fact(
            cluster.leaders[partition],
            assignment.replicas,
            self._offline(partition, assignment.replicas),
            partition.topic in cluster.deleting,
        )
        made = self._made.get(partition)
        if made is None or made[0] != fact:
            made = self._made[partition] = fact, fact.message(partition)
            if fact.is_deleted:
                del self._made[partition]
        return made[1]

    def _offline(self, partition: TopicPartition, replicas: tuple[int, ...]) -> tuple[int, ...]:
        cluster = self._cluster
        if cluster.failed:
            return tuple(one for one in replicas if not cluster.is_online(one, partition))
        return tuple([one for one in replicas if one not in cluster.brokers])

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
                for endpoint in self._cluster.brokers[leader].endpoints
                if endpoint.listener == self._listener
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
        self, broker: int, partitions: dict[TopicPartition, ReplicaStop]
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
