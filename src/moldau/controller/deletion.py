"""Deleting a topic: brokers forget it, replicas go, then its nodes.

A replica on a broker that is down cannot go, so the topic stays marked until it is back.
"""

import contextlib
import logging
from collections.abc import Awaitable, Callable

from moldau.controller.controller import Controller
from moldau.controller.outbox import Letter, Stop
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.tree import NoNode, Tree
from moldau.errors import ErrorCode
from moldau.metadata.image import EPOCH_DURING_DELETE
from moldau.model import TopicPartition
from moldau.protocol.messages.stop_replica import StopReplicaResponse

_log = logging.getLogger(__name__)

Deliver = Callable[[], Awaitable[list[tuple[Letter, object]]]]


class TopicDeletion:
    """The steps of a deletion; each can be repeated after a failure."""

    def __init__(self, tree: Tree, machine: Controller, deliver: Deliver) -> None:
        self._tree = tree
        self._machine = machine
        self._deliver = deliver

    async def delete(self, topic: str) -> bool:
        """Delete as much as can be deleted; says whether the topic is gone."""
        cluster = self._machine.cluster
        partitions = cluster.partitions_of(topic)
        replicas = {one for each in partitions for one in cluster.assignment(each).replicas}
        if replicas <= set(cluster.brokers):
            if not await self._stop(partitions):
                return False
            await self._remove_nodes(topic, partitions)
            cluster.forget(topic)
            _log.info("topic %s is deleted", topic)
            return True
        _log.info("topic %s waits for its brokers to be deleted", topic)
        return False

    async def _stop(self, partitions: list[TopicPartition]) -> bool:
        cluster, outbox = self._machine.cluster, self._machine.outbox
        outbox.tell_metadata(cluster.brokers, partitions)
        for partition in partitions:
            stop = Stop(EPOCH_DURING_DELETE, is_deletion=True)
            outbox.tell_stop(cluster.assignment(partition).replicas, partition, stop)
        answers = [answer for _, answer in await self._deliver()]
        return all(
            error.error_code == ErrorCode.NONE
            for answer in answers
            if isinstance(answer, StopReplicaResponse)
            for error in answer.partition_errors
        )

    async def _remove_nodes(self, topic: str, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            await self._remove(topic_nodes.state_path(partition))
            await self._remove(topic_nodes.partition_path(partition))
        await self._remove(topic_nodes.partitions_path(topic))
        await self._remove(topic_nodes.topic_path(topic))
        await self._remove(ConfigEntity.topic(topic).path)
        await self._remove(partition_lists.delete_topic_path(topic))

    async def _remove(self, path: str) -> None:
        with contextlib.suppress(NoNode):
            await self._tree.delete(path)
