"""Carries out reassignments: each step is written before the next one is taken.

The topic's node says that a partition moves, until the move has ended: a controller that
comes after finds it there, and goes on.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from moldau.controller import reassignment
from moldau.controller.cluster import Assignment
from moldau.controller.controller import Controller, StateWrite
from moldau.controller.outbox import Stop
from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

CarryOut = Callable[[Callable[[], list[StateWrite]]], Awaitable[None]]
Wishes = Mapping[TopicPartition, tuple[int, ...] | None]
"""Where partitions shall go; None ends the move that is under way."""


class Reassigning:
    """The moves of a controller's term."""

    def __init__(
        self, machine: Controller, reader: TreeReader, nodes: StateNodes, carry_out: CarryOut
    ) -> None:
        """`carry_out` writes what a plan says, and sends what there is to tell of it."""
        self._machine = machine
        self._reader = reader
        self._nodes = nodes
        self._carry_out = carry_out

    async def start(self, wishes: Wishes) -> dict[TopicPartition, KafkaError]:
        """Begin moves, and end those that are done by that; returns what cannot be granted."""
        refused: dict[TopicPartition, KafkaError] = {}
        for partition, target in wishes.items():
            try:
                await self._start(partition, target)
            except KafkaError as error:
                refused[partition] = error
        await self.finish()
        return refused

    async def finish(self) -> None:
        """End the moves whose new replicas are all in sync."""
        cluster = self._machine.cluster
        for partition, state in list(cluster.leaders.items()):
            if partition.topic in cluster.deleting:
                continue
            if reassignment.is_complete(cluster.assignment(partition), state.isr):
                await self._finish(partition)

    async def _start(self, partition: TopicPartition, target: tuple[int, ...] | None) -> None:
        cluster = self._machine.cluster
        if partition not in cluster.leaders or partition.topic in cluster.deleting:
            message = "The partition does not exist."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        before = cluster.assignment(partition)
        if target is not None:
            after = reassignment.started(before, target)
        elif reassignment.is_under_way(before):
            after = reassignment.cancelled(before)
        else:
            message = "No partition reassignment is in progress."
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, message)
        if after == before:
            return
        await self._write(partition, after)
        _log.info("%s moves to %s", partition, list(reassignment.target_of(after)))
        # The new epoch makes the leader take note of the replicas that come.
        await self._carry_out(partial(self._machine.plan_epoch, partition))
        # An earlier wish may have brought replicas that this one has no use for.
        self._remove([one for one in before.replicas if one not in after.replicas], partition)

    async def _finish(self, partition: TopicPartition) -> None:
        """Have the new replicas lead and the others go; then, and only then, forget them."""
        machine = self._machine
        moving = machine.cluster.assignment(partition)
        machine.cluster.assign(partition, reassignment.finished(moving))
        await self._carry_out(partial(machine.plan_moved, partition))
        self._remove(moving.removing, partition)
        await self._write(partition, reassignment.finished(moving))
        machine.outbox.tell_metadata(machine.cluster.brokers, [partition])
        _log.info("%s has moved to %s", partition, list(reassignment.target_of(moving)))

    def _remove(self, replicas: tuple[int, ...] | list[int], partition: TopicPartition) -> None:
        stop = Stop(self._machine.cluster.leaders[partition].leader_epoch, is_deletion=True)
        self._machine.outbox.tell_stop(replicas, partition, stop)

    async def _write(self, partition: TopicPartition, assignment: Assignment) -> None:
        """Write where a partition is into its topic's node, beside what others may write."""
        changed = PartitionAssignment(
            replicas=assignment.replicas, adding=assignment.adding, removing=assignment.removing
        )
        while True:
            found = await self._reader.assignment(partition.topic)
            if found is None:
                message = "The partition does not exist."
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
            topic, version = found
            partitions = {**topic.partitions, partition.partition: changed}
            written = TopicAssignment(partitions=partitions, topic_id=topic.topic_id)
            if await self._nodes.write_topic(partition.topic, written, version):
                break
        self._machine.cluster.assign(partition, assignment)
