"""A consumer's part in its group: what it is assigned, and what it commits."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from moldau.client.beside import call_or_await
from moldau.client.connection.cluster import Cluster
from moldau.client.consumer.assignment import Assignment
from moldau.client.group.assignors import assignors_of
from moldau.client.group.committed import CommittedOffsets
from moldau.client.group.consumer_participation import ConsumerParticipation
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.membership import Membership
from moldau.client.group.participation import Participation
from moldau.client.group.subscription import Subscription
from moldau.client.metrics import Metrics
from moldau.client.producer.transactions import GroupMetadata
from moldau.client.settings import ConsumerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

PartitionListener = Callable[[list[TopicPartition]], Awaitable[None] | None]
"""Is called with partitions: a plain function in a thread of its own, or one to await."""


@dataclass(frozen=True, slots=True)
class RebalanceListeners:
    """What to call when partitions come and go."""

    on_assigned: PartitionListener | None = None
    on_revoked: PartitionListener | None = None
    on_lost: PartitionListener | None = None
    """Is called instead of `on_revoked` with what others may have by now."""


class GroupClient:
    """Keeps the assignment as the group says, and commits what the user is done with.

    It is the `Holder` of the partitions that the group gives.
    """

    def __init__(
        self,
        cluster: Cluster,
        assignment: Assignment,
        *,
        wake: Callable[[], None],
        failed: Callable[[KafkaError], None],
    ) -> None:
        assert isinstance(cluster.settings, ConsumerSettings)
        self._settings: ConsumerSettings = cluster.settings
        self._assignment = assignment
        self._wake = wake
        self.failed = failed
        assignors = assignors_of(self._settings.partition_assignment_strategy)
        self._membership = Membership(self._settings.group_id, assignors)
        coordinator = Coordinator(cluster, self._settings.group_id)
        instance_id = self._settings.group_instance_id or None
        self.committed = CommittedOffsets(coordinator, self._membership, instance_id)
        self.committed.epoch_at = assignment.epoch_at
        self.participation: Participation | ConsumerParticipation
        if self._settings.group_protocol == "consumer":
            self.participation = members = ConsumerParticipation(coordinator, self._membership)
            self.committed.renew = lambda: members.renew(self._held)
        else:
            self.participation = Participation(coordinator, self._membership, list(assignors))
        self._has_subscribed = asyncio.Event()
        self._held: list[TopicPartition] = []
        self._wished: dict[TopicPartition, int] = {}
        self._has_wishes = asyncio.Event()
        self.is_subscribed = False
        """Whether the group says what is read."""
        self._listeners = RebalanceListeners()
        self._rebalances = 0
        self.polled_as = self._metadata()
        """This member as it was when records were handed out.

        Rebalances go on beside the user's code: by a later generation, offsets of partitions
        could be committed that others read by now, and what they read would be doubled.
        """

    def note_poll(self) -> None:
        """Records are handed out, for which the user has some time; any thread may call this."""
        self.participation.polls.note()
        if self._membership.is_in_generation or not self.is_subscribed:
            self.polled_as = self._metadata()

    def _metadata(self) -> GroupMetadata:
        member = self._membership
        instance_id = self._settings.group_instance_id or None
        if not member.is_in_generation:
            return GroupMetadata(member.group_id)
        return GroupMetadata(member.group_id, member.generation, member.member_id, instance_id)

    def metrics(self) -> Metrics:
        """What the group had to do with this member."""
        return {
            "rebalance-total": self._rebalances,
            "commit-total": self.committed.commit_count,
        }

    def subscribe(self, subscription: Subscription, listeners: RebalanceListeners) -> None:
        """Let the group say what of these topics is read."""
        self._listeners = listeners
        self.is_subscribed = True
        self.participation.subscribe(subscription)
        self._has_subscribed.set()

    def unsubscribe(self) -> None:
        """Leave the partitions to others."""
        self.is_subscribed = False
        self.participation.subscribe(Subscription())

    async def run(self) -> None:
        """Take part until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._commit_wishes())
            if self._settings.enable_auto_commit:
                tasks.create_task(self._commit_now_and_then())
            await self._has_subscribed.wait()
            await self.participation.run(self)

    async def close(self) -> None:
        """Commit what the user has, and leave; to be called when nothing runs any more."""
        await self._commit(self._wished)
        await self.commit()
        if self._held:
            holder = self.participation.steady(self)
            is_member = self._membership.is_in_generation
            await (holder.give_back if is_member else holder.lose)(self._held)
        await self.participation.leave()

    # Called by the participation

    def held(self) -> list[TopicPartition]:
        return list(self._held)

    async def commit(self) -> None:
        if self._settings.enable_auto_commit:
            await self._commit(self._assignment.consumed_offsets())

    async def give_back(self, partitions: list[TopicPartition]) -> None:
        """Let others have these, once what was read of them is committed."""
        if not partitions:
            return
        await self.commit()
        await _call(self._listeners.on_revoked, partitions)
        self._drop(partitions)

    async def lose(self, partitions: list[TopicPartition]) -> None:
        if partitions:
            await _call(self._listeners.on_lost or self._listeners.on_revoked, partitions)
            self._drop(partitions)

    def _drop(self, partitions: list[TopicPartition]) -> None:
        gone = set(partitions)
        self._held = [each for each in self._held if each not in gone]
        self._assignment.replace([each for each in self._assignment.partitions if each not in gone])

    async def receive(self, partitions: list[TopicPartition]) -> None:
        self._rebalances += 1
        new = [each for each in partitions if each not in self._held]
        self._held = list(partitions)
        self._assignment.replace(partitions)
        await _call(self._listeners.on_assigned, new)
        self._wake()

    # Commits

    def commit_soon(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit in the background; the newest wish wins."""
        self._wished.update(offsets)
        self._has_wishes.set()

    async def _commit_wishes(self) -> None:
        while True:
            await self._has_wishes.wait()
            self._has_wishes.clear()
            wished, self._wished = self._wished, {}
            await self._commit(wished)

    async def _commit_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._settings.auto_commit_interval_ms / 1000)
            await self.commit()

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        try:
            # What no caller waits for must not hold up members that wait for partitions.
            await self.committed.commit(offsets, self._settings.request_timeout_ms / 1000)
        except KafkaError as error:
            _log.warning("group %s: failed to commit offsets: %s", self._settings.group_id, error)


async def _call(listener: PartitionListener | None, partitions: list[TopicPartition]) -> None:
    """Heartbeats go on meanwhile, even if the listener blocks."""
    if listener is not None:
        await call_or_await(listener, partitions)
