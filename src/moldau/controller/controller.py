"""The controller's decisions: each step plans writes, then tells the brokers what was written.

A plan is a list of conditional writes to the partitions' state nodes. The service makes
them, and reports each with `note_written`; what the node has is what the brokers are told,
never what was only planned. A write that fails its condition changes nothing here: whoever
wrote in between has sent an event that brings the news.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from moldau.controller import election
from moldau.controller.cluster import NO_LEADER, Cluster, LeaderIsr
from moldau.controller.outbox import Outbox
from moldau.model import TopicPartition


class StateWrite(NamedTuple):
    """A state node to write, if it has this version still; None creates it."""

    partition: TopicPartition
    state: LeaderIsr
    expected_version: int | None


class Controller:
    """The machine of the broker that is controller, for one controller epoch."""

    def __init__(
        self, broker_id: int, epoch: int, *, is_unclean_allowed: Callable[[str], bool]
    ) -> None:
        self.epoch = epoch
        self.cluster = Cluster()
        self.outbox = Outbox(self.cluster, controller_id=broker_id, controller_epoch=epoch)
        self._is_unclean_allowed = is_unclean_allowed

    # Planning

    def plan_new(self, partitions: Iterable[TopicPartition]) -> list[StateWrite]:
        """Leaders for partitions that have no state yet; those without a live replica wait."""
        writes = []
        for partition in partitions:
            if partition in self.cluster.leaders:
                continue
            replicas = self.cluster.assignment(partition).replicas
            elected = election.elect_first(replicas, self.cluster.available)
            if elected is not None:
                state = LeaderIsr(elected.leader, 0, elected.isr, self.epoch)
                writes.append(StateWrite(partition, state, None))
        return writes

    def plan_offline(self) -> list[StateWrite]:
        """New leaders for partitions whose leader is not live."""
        writes = self.plan_new(
            partition
            for partition in self.cluster.partitions()
            if partition.topic not in self.cluster.deleting
        )
        for partition, state in self.cluster.leaders.items():
            if state.leader in self.cluster.brokers or partition.topic in self.cluster.deleting:
                continue
            elected = election.elect_offline(
                self.cluster.assignment(partition).replicas,
                state.isr,
                self.cluster.available,
                is_unclean_allowed=self._is_unclean_allowed(partition.topic),
            )
            if elected is not None:
                writes.append(self._write(partition, state, elected.leader, elected.isr))
            elif state.leader != NO_LEADER:
                writes.append(self._write(partition, state, NO_LEADER, state.isr))
        return writes

    def plan_shrink(self, gone: set[int]) -> list[StateWrite]:
        """Take brokers that are gone out of the in-sync sets of what others lead.

        The last member of a set is never taken out: only it may lead without loss.
        """
        writes = []
        for partition, state in self.cluster.leaders.items():
            remaining = tuple(replica for replica in state.isr if replica not in gone)
            if remaining and remaining != state.isr and state.leader not in gone:
                writes.append(self._write(partition, state, state.leader, remaining))
        return writes

    def plan_preferred(self, partitions: Iterable[TopicPartition]) -> list[StateWrite]:
        """Give partitions back to their first replica, where it is in sync and does not lead."""
        writes = []
        for partition in partitions:
            state = self.cluster.leaders.get(partition)
            if state is None or partition.topic in self.cluster.deleting:
                continue
            elected = election.elect_preferred(
                self.cluster.assignment(partition).replicas, state.isr, self.cluster.available
            )
            if elected is not None and elected.leader != state.leader:
                writes.append(self._write(partition, state, elected.leader, elected.isr))
        return writes

    def _write(
        self, partition: TopicPartition, state: LeaderIsr, leader: int, isr: tuple[int, ...]
    ) -> StateWrite:
        # A deposed leader may not know it yet; the new epoch makes everyone refuse it.
        changed = LeaderIsr(leader, state.leader_epoch + 1, isr, self.epoch)
        return StateWrite(partition, changed, state.zk_version)

    # What came of it

    def note_written(self, write: StateWrite, zk_version: int) -> None:
        """The write was made: remember it, and tell everyone."""
        is_new = write.expected_version is None
        self.cluster.leaders[write.partition] = write.state._replace(zk_version=zk_version)
        replicas = self.cluster.assignment(write.partition).replicas
        self.outbox.tell_leader(replicas, write.partition, is_new=is_new)
        self.outbox.tell_metadata(self.cluster.brokers, [write.partition])

    def welcome(self, broker_ids: Iterable[int]) -> None:
        """Brokers have come: tell them everything, and the others that they are there."""
        newcomers = set(broker_ids)
        self.outbox.tell_metadata(newcomers, self.cluster.leaders)
        self.outbox.tell_metadata(self.cluster.brokers)
        for partition in self.cluster.leaders:
            if partition.topic not in self.cluster.deleting:
                replicas = self.cluster.assignment(partition).replicas
                self.outbox.tell_leader(
                    [replica for replica in replicas if replica in newcomers], partition
                )
