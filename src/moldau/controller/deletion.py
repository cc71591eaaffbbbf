"""Deleting a topic: brokers forget it, replicas go, then its nodes.

Every step can be repeated. A replica on a broker that is down cannot go, so the nodes of
the topic stay until that broker is back; for everyone else the topic is gone at once.
"""

import logging
from collections.abc import Awaitable, Callable

from moldau.controller.controller import Controller
from moldau.controller.outbox import Letter, Stop
from moldau.controller.state_nodes import StateNodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse

_log = logging.getLogger(__name__)

Deliver = Callable[[], Awaitable[list[tuple[Letter, object]]]]


class TopicDeletion:
    """The steps of a deletion."""

    def __init__(self, nodes: StateNodes, machine: Controller, deliver: Deliver) -> None:
        self._nodes = nodes
        self._machine = machine
        self._deliver = deliver

    async def delete(self, topic: str) -> bool:
        """Delete as much as can be deleted; says whether the topic is gone."""
        cluster = self._machine.cluster
        partitions = cluster.partitions_of(topic)
        replicas = {one for each in partitions for one in cluster.assignment(each).replicas}
        are_stopped = await self._stop(partitions)
        away = sorted(replicas - set(cluster.brokers))
        if away or not are_stopped:
            _log.info("topic %s stays until its replicas can be deleted; away: %s", topic, away)
            return False
        await self._nodes.remove(_nodes_of(topic, partitions))
        cluster.forget(topic)
        _log.info("topic %s is deleted", topic)
        return True

    async def _stop(self, partitions: list[TopicPartition]) -> bool:
        cluster, outbox = self._machine.cluster, self._machine.outbox
        outbox.tell_metadata(cluster.brokers, partitions)
        for partition in partitions:
            stop = Stop(EPOCH_DURING_DELETE, is_deletion=True)
            outbox.tell_stop(cluster.assignment(partition).replicas, partition, stop)
        return all(
            _has_stopped(answer)
            for letter, answer in await self._deliver()
            if isinstance(letter.request, StopReplicaRequest)
        )


def _has_stopped(answer: object) -> bool:
    """Whether a broker has deleted all that it was told to; None is no answer at all."""
    return (
        isinstance(answer, StopReplicaResponse)
        and answer.error_code == ErrorCode.NONE
        and all(one.error_code == ErrorCode.NONE for one in answer.partition_errors)
    )


def _nodes_of(topic: str, partitions: list[TopicPartition]) -> list[str]:
    """The mark comes last: as long as it stands the deletion is taken up again."""
    return [
        *(topic_nodes.state_path(partition) for partition in partitions),
        *(topic_nodes.partition_path(partition) for partition in partitions),
        topic_nodes.partitions_path(topic),
        topic_nodes.topic_path(topic),
        ConfigEntity.topic(topic).path,
        partition_lists.delete_topic_path(topic),
    ]
