"""Carries out reassignments: each step is written before the next one is taken.

The topic's node says that a partition moves, until the move has ended: a controller that
comes after finds it there, and goes on.
"""

import logging
from collections.abc import Mapping
from functools import partial

from moldau.controller import reassignment
from moldau.controller.cluster import ReplicaAssignment
from moldau.controller.controller import CarryOut, Controller
from moldau.controller.outbox import ReplicaStop
from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

Wishes = Mapping[TopicPartition, tuple[int, ...] | None]
"""Where partitions shall go; None ends the move that is under way."""


class Reassigning:
    """The moves of a controller's term."""

    def __init__(
        self, machine: Controller, reader: TreeReader, nodes: StateNodes, carry_out: CarryOut
    ) -> None:
        """`carry_out` writes what a plan says, and sends the requests that follow from it."""
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
                refused[partition] = error.kept()
        await self.finish()
        return refused

    async def finish(self) -> None:
        """End the moves whose new replicas are all in sync."""
        cluster = self._machine.cluster
        for partition in self._under_way():
            moving = cluster.assignment(partition)
            after = reassignment.finished(moving)
            is_complete = reassignment.is_complete(moving, cluster.leaders[partition].isr)
            if not is_complete or not self._machine.can_lead(after.replicas, partition):
                continue
            try:
                if await self._settle(partition, after):
                    _log.info("Reassigned %s to %s", partition, list(after.replicas))
            except KafkaError as error:
                _log.warning("Failed to reassign %s: %s", partition, error)

    async def resume(self) -> None:
        """Take over what another controller has begun: it may have got no further than that.

        The new epoch makes the leaders take note of the replicas that come.
        """
        await self.finish()
        moving = self._under_way()
        plan = self._machine.plan_moved
        await self._carry_out(lambda: [write for one in moving for write in plan(one)])

    def _under_way(self) -> list[TopicPartition]:
        cluster = self._machine.cluster
        return [
            partition
            for partition in cluster.leaders
            if partition.topic not in cluster.deleting
            and reassignment.is_under_way(cluster.assignment(partition))
        ]

    async def _start(self, partition: TopicPartition, target: tuple[int, ...] | None) -> None:
        before = self._before(partition, target)
        if target is None:
            after = reassignment.cancelled(before)
        else:
            after = reassignment.started(before, target)
        if after == before:
            return
        if not self._machine.can_do_with(after.replicas, partition):
            raise _nobody_in_sync()
        if not reassignment.is_under_way(after):
            if not await self._settle(partition, after):
                raise _nobody_in_sync()
            return
        await self._write(partition, after)
        _log.info("Reassigning %s to %s", partition, list(reassignment.target_of(after)))
        # The new epoch makes the leader take note of the replicas that come.
        await self._carry_out(partial(self._machine.plan_moved, partition))
        # An earlier wish may have brought replicas that this one has no use for.
        self._remove(before.replicas, partition)

    def _before(
        self, partition: TopicPartition, target: tuple[int, ...] | None
    ) -> ReplicaAssignment:
        """Where a partition is; raises if it cannot go to `target` from there."""
        cluster = self._machine.cluster
        is_known = partition in cluster.leaders and partition.topic not in cluster.deleting
        before = cluster.assignment(partition) if is_known else ReplicaAssignment(())
        if target is not None:
            problem = reassignment.problem_of(before, target, cluster.brokers)
            if problem is not None:
                raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)
        if not is_known:
            raise _no_such_partition()
        if target is None and not reassignment.is_under_way(before):
            message = "No partition reassignment is in progress."
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, message)
        return before

    async def _settle(self, partition: TopicPartition, after: ReplicaAssignment) -> bool:
        """Have some replicas lead and the others go; then, and only then, forget them.

        Nothing is given up as long as one that goes leads or is in sync; says whether it was so.
        """
        machine = self._machine
        before = machine.cluster.assignment(partition)
        if await self._reader.assignment(partition.topic) is None:
            raise _no_such_partition()
        machine.cluster.assign(partition, after)
        await self._carry_out(partial(machine.plan_moved, partition))
        if not machine.has_moved(partition):
            machine.cluster.assign(partition, before)
            return False
        self._remove(before.replicas, partition)
        await self._write(partition, after)
        machine.outbox.add_update_metadata(machine.cluster.brokers, [partition])
        return True

    def _remove(self, replicas: tuple[int, ...], partition: TopicPartition) -> None:
        """Have those of the replicas go that are none any longer."""
        if not self._machine.has_moved(partition):
            return
        kept = self._machine.cluster.assignment(partition).replicas
        replicas = tuple(one for one in replicas if one not in kept)
        stop = ReplicaStop(self._machine.cluster.leaders[partition].leader_epoch, is_deletion=True)
        self._machine.outbox.add_stop_replica(replicas, partition, stop)

    async def _write(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """Write where a partition is into its topic's node, beside what others may write."""
        changed = PartitionAssignment(
            replicas=assignment.replicas, adding=assignment.adding, removing=assignment.removing
        )
        while True:
            found = await self._reader.assignment(partition.topic)
            if found is None:
                raise _no_such_partition()
            topic, version = found
            partitions = {**topic.partitions, partition.partition: changed}
            written = TopicAssignment(partitions=partitions, topic_id=topic.topic_id)
            if await self._nodes.write_topic(partition.topic, written, version):
                break
        self._machine.cluster.assign(partition, assignment)


def _nobody_in_sync() -> KafkaError:
    message = "None of the replicas that would remain is in sync."
    return KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)


def _no_such_partition() -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
