"""The controller's decisions: each step plans writes, then sends the brokers what was written.

A plan is a list of conditional writes to the partitions' state nodes. The service makes
them, and reports each with `note_written`; the brokers are sent what the node has, never
what was only planned. A write that fails its condition changes nothing here: the writer that
came in between has caused an event that brings the change.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from moldau.controller import election
from moldau.controller.cluster import NO_LEADER, ClusterPicture, LeaderIsr
from moldau.controller.deletion import Deletions
from moldau.controller.outbox import PLAINTEXT, Outbox
from moldau.errors import ErrorCode
from moldau.model import TopicPartition

Settings = Mapping[str, str]
IsUncleanAllowed = Callable[[str, Settings], bool]
"""Whether a replica out of sync may lead a topic that has these settings of its own."""


class StateWrite(NamedTuple):
    """A state node to write, if it has this version still; None creates it."""

    partition: TopicPartition
    state: LeaderIsr
    expected_version: int | None


Plan = Callable[[], list[StateWrite]]
CarryOut = Callable[[Plan], Awaitable[None]]


class Controller:
    """The machine of the broker that is controller, for one controller epoch."""

    def __init__(
        self,
        broker_id: int,
        epoch: int,
        *,
        is_unclean_allowed: IsUncleanAllowed,
        listener: str = PLAINTEXT,
    ) -> None:
        """`listener` is what brokers call each other by."""
        self.broker_id = broker_id
        self.epoch = epoch
        self.cluster = ClusterPicture()
        self.outbox = Outbox(
            self.cluster, controller_id=broker_id, controller_epoch=epoch, listener=listener
        )
        self.deletions = Deletions(self.cluster, self.outbox)
        self._is_unclean_allowed = is_unclean_allowed

    # Planning

    def plan_new(self, partitions: Iterable[TopicPartition]) -> list[StateWrite]:
        """Leaders for partitions that have no state yet; those without a live replica wait."""
        writes = []
        for partition in partitions:
            if partition in self.cluster.leaders:
                continue
            replicas = self.cluster.assignment(partition).replicas
            elected = election.elect_first(replicas, self.cluster.candidates(partition))
            if elected is not None:
                state = LeaderIsr(elected.leader, 0, elected.isr, self.epoch)
                writes.append(StateWrite(partition, state, None))
        return writes

    def topics_in_question(self) -> set[str]:
        """The topics that only replicas out of sync could lead: do their settings allow it?"""
        return {
            partition.topic
            for partition, state in self._leaderless()
            if (candidates := self.cluster.candidates(partition))
            and candidates.isdisjoint(state.isr)
        }

    def plan_offline(self, settings: Mapping[str, Settings | None]) -> list[StateWrite]:
        """New leaders for partitions whose leader is not live.

        `settings` are those of the topics concerned, None where they cannot be parsed:
        a topic whose settings are not known is not led by replicas out of sync.
        """

        def is_unclean_allowed(topic: str) -> bool:
            found = settings.get(topic)
            return found is not None and self._is_unclean_allowed(topic, found)

        return [
            *self.plan_new(
                partition
                for partition in self.cluster.partitions()
                if partition.topic not in self.cluster.deleting
            ),
            *self.plan_elections(
                (partition for partition, _ in self._leaderless()),
                is_unclean_allowed=is_unclean_allowed,
            ),
        ]

    def plan_elections(
        self, partitions: Iterable[TopicPartition], *, is_unclean_allowed: Callable[[str], bool]
    ) -> list[StateWrite]:
        """New leaders for partitions that have none; a leader that is gone is none.

        As long as a session stands, its broker may come back with what it alone has: no replica
        out of sync takes its place before.
        """
        writes = []
        for partition in partitions:
            state = self.cluster.leaders[partition]
            is_final = self.cluster.unproven.isdisjoint(state.isr)
            elected = election.elect_offline(
                self.cluster.assignment(partition).replicas,
                state.isr,
                self.cluster.candidates(partition),
                is_unclean_allowed=is_final and is_unclean_allowed(partition.topic),
            )
            if elected is not None:
                writes.append(self._write(partition, state, elected.leader, elected.isr))
            elif state.leader != NO_LEADER:
                writes.append(self._write(partition, state, NO_LEADER, state.isr))
        return writes

    def plan_returned(self) -> list[StateWrite]:
        """New epochs for what was led by brokers that have begun another life since.

        They may have lost records with their power that others have. Others that are in sync lead
        then; where there are none the epoch alone shows followers where to cut.
        """
        partitions = [
            one
            for one in self.cluster.returned
            if one.topic not in self.cluster.deleting
            and len(self.cluster.assignment(one).replicas) > 1
        ]
        leaders = self.cluster.leaders
        returned = {leaders[one].leader for one in partitions}
        writes = []
        for partition in partitions:
            state = leaders[partition]
            elected = election.elect_offline(
                self.cluster.assignment(partition).replicas,
                state.isr,
                self.cluster.candidates(partition) - returned,
                is_unclean_allowed=False,
            )
            leader, isr = (state.leader, state.isr) if elected is None else elected[:2]
            writes.append(self._write(partition, state, leader, isr))
        return writes

    def plan_shrink(self) -> list[StateWrite]:
        """Take replicas that are out of reach from the in-sync sets of what others lead.

        The last member of a set is never taken out: only it may lead without loss.
        """
        writes = []
        for partition, state in self._kept():
            remaining = tuple(
                replica for replica in state.isr if self.cluster.is_online(replica, partition)
            )
            if state.leader in remaining and remaining != state.isr:
                writes.append(self._write(partition, state, state.leader, remaining))
        return writes

    def plan_shutdown(self, broker_id: int) -> list[StateWrite]:
        """Have others lead what a stopping broker leads, and let it leave the in-sync sets."""
        writes = []
        for partition, state in self._kept():
            replicas = self.cluster.assignment(partition).replicas
            if len(replicas) == 1 or broker_id not in replicas:
                continue
            if state.leader == broker_id:
                elected = election.elect_for_shutdown(
                    replicas, state.isr, self.cluster.candidates(partition), {broker_id}
                )
                if elected is not None:
                    writes.append(self._write(partition, state, elected.leader, elected.isr))
            elif broker_id in state.isr and len(state.isr) > 1:
                remaining = tuple(one for one in state.isr if one != broker_id)
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
                self.cluster.assignment(partition).replicas,
                state.isr,
                self.cluster.candidates(partition),
            )
            if elected is not None and elected.leader != state.leader:
                writes.append(self._write(partition, state, elected.leader, elected.isr))
        return writes

    def plan_moved(self, partition: TopicPartition) -> list[StateWrite]:
        """A partition has other replicas than before: only they lead and are in sync.

        The leader gets a new epoch, so that every broker takes note of the replicas.
        Nothing is planned if none of them can.
        """
        state = self.cluster.leaders[partition]
        replicas = self.cluster.assignment(partition).replicas
        isr = tuple(one for one in state.isr if one in replicas)
        if state.leader in replicas and self.cluster.is_online(state.leader, partition):
            return [self._write(partition, state, state.leader, isr)]
        elected = election.elect_reassigned(replicas, isr, self.cluster.candidates(partition))
        return [] if elected is None else [self._write(partition, state, *elected[:2])]

    def can_lead(self, replicas: Iterable[int], partition: TopicPartition) -> bool:
        """Whether one of these could lead a partition without loss."""
        isr = self.cluster.leaders[partition].isr
        return any(one in isr and self.cluster.is_online(one, partition) for one in replicas)

    def can_do_with(self, replicas: Collection[int], partition: TopicPartition) -> bool:
        """Whether nothing is lost if a partition has these replicas only."""
        isr = self.cluster.leaders[partition].isr
        return set(isr) <= set(replicas) or self.can_lead(replicas, partition)

    def has_moved(self, partition: TopicPartition) -> bool:
        """Whether only its replicas lead and are in sync."""
        state = self.cluster.leaders[partition]
        replicas = self.cluster.assignment(partition).replicas
        return {state.leader, *state.isr} <= {NO_LEADER, *replicas}

    def imbalanced(self, *, percentage: int) -> list[TopicPartition]:
        """What others lead for live brokers that miss more than so much of what is theirs."""
        preferred: dict[int, list[TopicPartition]] = {}
        for partition, _ in self._kept():
            first = self.cluster.assignment(partition).replicas[0]
            if first in self.cluster.brokers:
                preferred.setdefault(first, []).append(partition)
        found = []
        for broker, partitions in preferred.items():
            missed = [one for one in partitions if self.cluster.leaders[one].leader != broker]
            if len(missed) * 100 > percentage * len(partitions):
                found += missed
        return found

    def _kept(self) -> Iterator[tuple[TopicPartition, LeaderIsr]]:
        """The partitions that have a state and are not about to be deleted."""
        for partition, state in self.cluster.leaders.items():
            if partition.topic not in self.cluster.deleting:
                yield partition, state

    def _leaderless(self) -> Iterator[tuple[TopicPartition, LeaderIsr]]:
        """Those of them whose leader is not live."""
        for partition, state in self._kept():
            if not self.cluster.is_online(state.leader, partition):
                yield partition, state

    def _write(
        self, partition: TopicPartition, state: LeaderIsr, leader: int, isr: tuple[int, ...]
    ) -> StateWrite:
        # A deposed leader may not know it yet; the new epoch makes all brokers refuse it.
        changed = LeaderIsr(leader, state.leader_epoch + 1, isr, self.epoch)
        return StateWrite(partition, changed, state.zk_version)

    # What came of it

    def note_written(self, write: StateWrite, zk_version: int) -> None:
        """The write was made: remember it, and send it to the brokers."""
        is_new = write.expected_version is None
        self.cluster.returned.pop(write.partition, None)
        self.cluster.leaders[write.partition] = write.state._replace(zk_version=zk_version)
        assignment = self.cluster.assignment(write.partition)
        self.outbox.add_leader_and_isr(assignment.replicas, write.partition, is_new=is_new)
        self.outbox.add_leader_and_isr(assignment.adding, write.partition, is_new=True)
        self.outbox.add_update_metadata(self.cluster.brokers, [write.partition])

    def note_isr(self, partitions: Iterable[TopicPartition]) -> None:
        """Leaders have changed their in-sync sets: send them to the brokers."""
        self.outbox.add_update_metadata(self.cluster.brokers, partitions)

    def note_isr_written(self, written: Iterable[tuple[StateWrite, int]]) -> None:
        """In-sync sets were written for their leaders, which learn it from the responses."""
        for write, zk_version in written:
            self.cluster.leaders[write.partition] = write.state._replace(zk_version=zk_version)
            self.note_isr([write.partition])

    def note_gone(self, brokers: Collection[int]) -> None:
        """Brokers have gone: notify the others, also of the replicas that went with them."""
        for broker in brokers:
            self.cluster.failed.pop(broker, None)
            self.cluster.stopping.discard(broker)
        self.outbox.add_live_brokers(self.cluster.brokers)
        self.outbox.add_update_metadata(self.cluster.brokers, self.cluster.partitions_on(brokers))

    def welcome(self, brokers: Collection[int]) -> None:
        """Brokers have come: send them everything, and the others that they are live."""
        self.outbox.add_live_brokers(self.cluster.brokers)
        self.outbox.add_update_metadata(self.cluster.brokers, self.cluster.partitions_on(brokers))
        self.outbox.add_everything(brokers)
        for partition, _ in self._kept():
            replicas = self.cluster.assignment(partition).replicas
            self.outbox.add_leader_and_isr([one for one in replicas if one in brokers], partition)

    def note_failures(self, broker: int, errors: Mapping[TopicPartition, ErrorCode]) -> bool:
        """A broker has answered about its replicas; returns whether other leaders are needed."""
        if broker not in self.cluster.brokers:
            return False
        lost = {
            partition: None
            for partition, error in errors.items()
            if error is ErrorCode.KAFKA_STORAGE_ERROR
        }
        known = self.cluster.failed.get(broker, {})
        if known.keys() >= lost.keys():
            return False
        self.cluster.failed[broker] = known | lost
        return True
