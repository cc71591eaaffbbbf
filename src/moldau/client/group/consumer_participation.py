"""Takes part in a group of the consumer protocol: one heartbeat says it all (KIP-848).

The coordinator assigns partitions. A member sends what it has; a response may say what it shall
have: it revokes what is not among that, sends so, and only then may others have it.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from moldau.client.group.coordinator import Coordinator
from moldau.client.group.holder import Holder
from moldau.client.group.membership import NO_GENERATION, Membership, Remedy
from moldau.client.group.polls import Polls
from moldau.client.group.steady import SteadyHolder
from moldau.client.group.subscription import Subscription
from moldau.client.settings import ConsumerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition, format_uuid
from moldau.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from moldau.runtime.random import SystemRandom

_log = logging.getLogger(__name__)

_JOINING = 0
_LEAVING = -1
_LEAVING_FOR_A_WHILE = -2
_LEAVE_S = 5.0


class ConsumerParticipation:
    """The asyncio owner of a membership, whose generation is the member's epoch."""

    def __init__(self, coordinator: Coordinator, membership: Membership) -> None:
        settings = coordinator.cluster.settings
        assert isinstance(settings, ConsumerSettings)
        self._settings: ConsumerSettings = settings
        self._coordinator = coordinator
        self._cluster = coordinator.cluster
        self._membership = membership
        self._subscription = Subscription()
        self._topics: tuple[str, ...] = ()
        self._looked_ms = 0
        self._interval_s = settings.heartbeat_interval_ms / 1000
        self._target: list[TopicPartitions] | None = None
        self._sent: list[TopicPartition] | None = None
        self._changed = asyncio.Event()
        self.polls = Polls(settings.max_poll_interval_ms, self._now_ms)

    def subscribe(self, subscription: Subscription) -> None:
        """Read this from now on."""
        self._subscription = subscription
        self._changed.set()

    def steady(self, holder: Holder) -> Holder:
        """The holder, with heartbeats while it is notified of what comes and goes."""
        return SteadyHolder(
            holder,
            self._stay_alive,
            interval_s=lambda: self._interval_s,
            limit_s=self._settings.max_poll_interval_ms / 1000,
        )

    async def run(self, holder: Holder) -> None:
        """Take part until cancelled."""
        holder = self.steady(holder)
        while True:
            try:
                await self._take_part(holder)
            except KafkaError as error:
                await self._recover(error, holder)

    async def leave(self) -> None:
        """Let others have the partitions at once; a static member keeps its place a while."""
        if self._membership.is_in_generation:
            is_static = bool(self._settings.group_instance_id)
            epoch = _LEAVING_FOR_A_WHILE if is_static else _LEAVING
            with suppress(KafkaError):  # its session expires soon enough
                await self._beat(epoch, None, timeout_s=_LEAVE_S)
        self._membership.generation = NO_GENERATION
        self._sent = self._target = None

    async def renew(self, held: list[TopicPartition]) -> None:
        """Learn the epoch that the coordinator has given this member, if the answer was lost.

        The coordinator answers only a member that owns no partition of others: else it is fenced.
        """
        self._take(await self._beat(self._membership.generation, None, held))

    async def _take_part(self, holder: Holder) -> None:
        self._changed.clear()
        if not self._subscription:
            await holder.give_back(holder.held())
            await self.leave()
            await self._changed.wait()
            return
        if not self._membership.is_in_generation:
            await holder.lose(holder.held())
            await self._join()
        elif self.polls.is_overdue:
            await self._give_up(holder)
        else:
            await self._stay(holder)
        await self._reconcile(holder)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._interval_s):
                await self._changed.wait()

    async def _join(self) -> None:
        if not self._membership.member_id:
            self._membership.take_member_id(format_uuid(SystemRandom().uuid()))
        self._topics = await self._look_for_topics()
        missing = await self._cluster.missing(self._topics)
        if missing:
            group_id, names = self._membership.group_id, ", ".join(missing)
            _log.warning("group %s: subscribed topics do not exist yet: %s", group_id, names)
        self._sent = []
        self._take(await self._beat(_JOINING, self._topics))

    async def _stay(self, holder: Holder) -> None:
        topics = self._topics
        looked_ms = self._now_ms() - self._looked_ms
        is_pattern = self._subscription.pattern is not None
        if not is_pattern or looked_ms >= self._settings.metadata_max_age_ms:
            topics = await self._look_for_topics()
        is_new = topics != self._topics
        if is_new:
            await self._cluster.missing(topics)
        held = holder.held()
        news = held if held != self._sent else None
        self._take(await self._beat(self._membership.generation, topics if is_new else None, news))
        self._topics, self._sent = topics, held

    async def _stay_alive(self) -> None:
        if self._membership.is_in_generation:
            self._take(await self._beat(self._membership.generation, None))

    async def _reconcile(self, holder: Holder) -> None:
        """Come nearer to what the coordinator wants this member to have."""
        wanted = self._target
        if wanted is None:
            return
        target = await self._named(wanted)
        if target is None:
            return  # topics that are not known here yet: the next heartbeat comes soon
        others = [each for each in holder.held() if each not in target]
        if others:
            await holder.give_back(others)
        if holder.held() != target or not target:
            await holder.receive(target)
        if self._target is wanted:  # a heartbeat meanwhile may have brought more
            self._target = None
        if holder.held() != self._sent:
            self._changed.set()  # others wait for what is given back

    async def _named(self, topics: Sequence[TopicPartitions]) -> list[TopicPartition] | None:
        """Partitions by the names of their topics, which metadata may not have at once."""
        metadata = self._cluster.metadata
        if any(each.topic_id not in metadata.names_by_id for each in topics):
            await self._cluster.refresh(self._topics)
        if any(each.topic_id not in metadata.names_by_id for each in topics):
            return None
        return [
            TopicPartition(metadata.names_by_id[each.topic_id], partition)
            for each in topics
            for partition in each.partitions
        ]

    async def _give_up(self, holder: Holder) -> None:
        _log.warning(
            "group %s: left, not polled within max.poll.interval.ms",
            self._membership.group_id,
        )
        await self.leave()
        await holder.lose(holder.held())
        while self.polls.is_overdue:
            await self._cluster.back_off()
        self._changed.set()

    async def _look_for_topics(self) -> tuple[str, ...]:
        self._looked_ms = self._now_ms()
        return await self._subscription.topics(self._cluster)

    async def _beat(
        self,
        epoch: int,
        topics: Sequence[str] | None,
        held: list[TopicPartition] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> ConsumerGroupHeartbeatResponse:
        """Say what is new; a member that joins says all."""
        is_joining = epoch == _JOINING
        settings = self._settings
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._membership.group_id,
            member_id=self._membership.member_id,
            member_epoch=epoch,
            instance_id=settings.group_instance_id or None,
            rack_id=(settings.client_rack or None) if is_joining else None,
            rebalance_timeout_ms=settings.max_poll_interval_ms if is_joining else -1,
            subscribed_topic_names=None if topics is None else list(topics),
            server_assignor=(settings.group_remote_assignor or None) if is_joining else None,
            topic_partitions=self._by_id([]) if is_joining else self._by_id(held),
        )
        answer = await self._coordinator.ask(
            request, ConsumerGroupHeartbeatResponse, timeout_s=timeout_s
        )
        if answer.error_code:
            code = ErrorCode(answer.error_code)
            raise KafkaError(code, f"Heartbeat: {answer.error_message or code.name}")
        return answer

    def _by_id(self, partitions: list[TopicPartition] | None) -> list[TopicPartitions] | None:
        if partitions is None:
            return None
        ids = {name: topic_id for topic_id, name in self._cluster.metadata.names_by_id.items()}
        topics: dict[bytes, list[int]] = {}
        for topic, partition in partitions:
            topics.setdefault(ids[topic], []).append(partition)
        return [
            TopicPartitions(topic_id=each, partitions=numbers) for each, numbers in topics.items()
        ]

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        self._membership.member_id = answer.member_id or self._membership.member_id
        self._membership.generation = answer.member_epoch
        self._interval_s = answer.heartbeat_interval_ms / 1000
        if answer.assignment is not None:
            self._target = answer.assignment.topic_partitions

    async def _recover(self, error: KafkaError, holder: Holder) -> None:
        if error.code is ErrorCode.FENCED_MEMBER_EPOCH:
            _log.info("group %s: joining again: %s", self._membership.group_id, error)
            self._membership.generation = NO_GENERATION
            return
        match self._membership.remedy(error.code):
            case Remedy.REJOIN:
                _log.info("group %s: joining again: %s", self._membership.group_id, error)
                return
            case Remedy.FIND_COORDINATOR:
                self._coordinator.forget()
            case Remedy.WAIT:
                pass
            case Remedy.GIVE_UP:
                holder.failed(error)
                await self._changed.wait()
        await self._cluster.back_off()

    def _now_ms(self) -> int:
        return self._cluster.clock.monotonic_ms()
