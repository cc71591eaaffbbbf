"""Deleting topics: brokers forget them, replicas go, then the nodes.

Every step can be repeated. A replica on a broker that is down cannot go, so the nodes of
the topic stay until that broker is back; for all others the topic is gone at once.
"""

import logging

from moldau.controller.cluster import ClusterPicture
from moldau.controller.outbox import Outbox, ReplicaStop
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import StopReplicaResponse

_log = logging.getLogger(__name__)


class Deletions:
    """Which replicas of the topics that are to be deleted have gone."""

    def __init__(self, cluster: ClusterPicture, outbox: Outbox) -> None:
        self._cluster = cluster
        self._outbox = outbox
        self._gone: dict[tuple[int, TopicPartition], None] = {}

    def begin(self) -> None:
        """Notify the brokers that the topics are gone, and have the remaining replicas deleted."""
        stop = ReplicaStop(EPOCH_DURING_DELETE, is_deletion=True)
        for topic in self._cluster.deleting:
            partitions = self._cluster.partitions_of(topic)
            self._outbox.add_update_metadata(self._cluster.brokers, partitions)
            for partition in partitions:
                self._outbox.add_stop_replica(self._left(partition), partition, stop)

    def note_answer(self, broker_id: int, answer: StopReplicaResponse) -> None:
        """A broker has answered a StopReplica request."""
        if answer.error_code != ErrorCode.NONE:
            return
        for one in answer.partition_errors:
            partition = TopicPartition(one.topic_name, one.partition_index)
            if partition.topic not in self._cluster.deleting:
                continue
            if one.error_code == ErrorCode.NONE:
                self._gone[broker_id, partition] = None
            else:
                _log.warning(
                    "Broker %d failed to delete %s: error %d", broker_id, partition, one.error_code
                )

    def is_under_way(self, topic: str) -> bool:
        """Whether a topic is to be deleted, and no replica that is offline holds that up."""
        return topic in self._cluster.deleting and all(
            self._cluster.is_online(one, partition)
            for partition in self._cluster.partitions_of(topic)
            for one in self._left(partition)
        )

    def finished(self) -> list[str]:
        """The topics without replicas, whose nodes can go."""
        return [
            topic
            for topic in self._cluster.deleting
            if not any(map(self._left, self._cluster.partitions_of(topic)))
        ]

    def forget(self, topic: str) -> None:
        """The topic is gone."""
        self._gone = {one: None for one in self._gone if one[1].topic != topic}
        self._cluster.forget(topic)
        _log.info("Deleted topic %s", topic)

    def _left(self, partition: TopicPartition) -> list[int]:
        replicas = self._cluster.assignment(partition).replicas
        return [one for one in replicas if (one, partition) not in self._gone]


def nodes_of(topic: str, partitions: list[TopicPartition]) -> list[str]:
    """What a topic has in the tree, children before their parents.

    The mark comes last: as long as it stands the deletion is taken up again.
    """
    return [
        *(topic_nodes.state_path(partition) for partition in partitions),
        *(topic_nodes.partition_path(partition) for partition in partitions),
        topic_nodes.partitions_path(topic),
        topic_nodes.topic_path(topic),
        ConfigEntity.topic(topic).path,
        partition_lists.delete_topic_path(topic),
    ]
