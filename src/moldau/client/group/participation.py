"""Takes part in a group: joins, keeps alive with heartbeats, and joins again when it must."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from moldau.client.group.assignors import COOPERATIVE, STICKY
from moldau.client.group.consumer_bytes import (
    MemberSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_cooperative_subscription,
    encode_sticky_subscription,
    encode_subscription,
)
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.holder import Holder
from moldau.client.group.member import GroupParticipant
from moldau.client.group.membership import Membership, Remedy
from moldau.client.group.polls import Polls
from moldau.client.group.steady import SteadyHolder
from moldau.client.group.subscription import Subscription
from moldau.client.settings import ConsumerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from moldau.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from moldau.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

_log = logging.getLogger(__name__)

JOIN_CHANNEL = "join"
_JOIN_EXTRA_S = 5.0
_LEAVE_S = 5.0
_LEAVE_GROUP = 13
_SINCE_SEVERAL_LEAVE = 3

_ENCODINGS = {
    STICKY: encode_sticky_subscription,
    COOPERATIVE: encode_cooperative_subscription,
}


class Participation:
    """The asyncio owner of a membership.

    Before it joins again all partitions are given back, unless every assignor that it knows is
    cooperative: then it keeps what it has, and gives back what others shall have (KIP-429).
    """

    def __init__(self, coordinator: Coordinator, membership: Membership, names: list[str]) -> None:
        settings = coordinator.cluster.settings
        assert isinstance(settings, ConsumerSettings)
        self._settings: ConsumerSettings = settings
        self._coordinator = coordinator
        self._cluster = coordinator.cluster
        self._membership = membership
        self._names = names
        self._keeps = all(name == COOPERATIVE for name in names)
        self._subscription = Subscription()
        self._topics: tuple[str, ...] = ()
        self._missing: list[str] = []
        self._looked_ms = 0
        self._had: list[TopicPartition] = []
        self._dealt_out: Mapping[str, list[int]] | None = None
        self._changed = asyncio.Event()
        self.polls = Polls(settings.max_poll_interval_ms, self._now_ms)

    # What the consumer calls

    def subscribe(self, subscription: Subscription) -> None:
        """Read this from the next generation on."""
        self._subscription = subscription
        self._changed.set()

    def steady(self, holder: Holder) -> Holder:
        """The holder, with heartbeats while it is notified of what comes and goes."""
        return SteadyHolder(
            holder,
            self._stay_alive,
            interval_s=lambda: self._settings.heartbeat_interval_ms / 1000,
            limit_s=self._settings.max_poll_interval_ms / 1000,
        )

    async def run(self, holder: Holder) -> None:
        """Take part until cancelled."""
        holder = self.steady(holder)
        while True:
            self._changed.clear()
            try:
                await self._prepare(holder)
                self._topics = await self._look_for_topics()
                if not self._topics:
                    await holder.give_back(holder.held())
                    await self.leave()
                elif not await self._receive(holder, await self._join(holder)):
                    continue
                await self._stay()
            except KafkaError as error:
                await self._recover(error, holder.failed)

    async def _prepare(self, holder: Holder) -> None:
        """Commit what was read, and give back what cannot be kept."""
        if self._keeps and self._membership.is_in_generation:
            await holder.commit()
        elif self._membership.is_in_generation:
            await holder.give_back(holder.held())
        else:
            await holder.lose(holder.held())

    async def _receive(self, holder: Holder, given: list[TopicPartition]) -> bool:
        """Take what is given; False if something was given back, so that others wait for it."""
        others = [each for each in holder.held() if each not in given]
        if others:
            await holder.give_back(others)
        await holder.receive(given)
        self._had = given
        return not others

    async def _look_for_topics(self) -> tuple[str, ...]:
        self._looked_ms = self._now_ms()
        return await self._subscription.topics(self._cluster)

    async def _matches_others(self) -> bool:
        """Whether a pattern stands for other topics by now."""
        if self._subscription.pattern is None:
            return False
        if self._now_ms() - self._looked_ms < self._settings.metadata_max_age_ms:
            return False
        return await self._look_for_topics() != self._topics

    async def leave(self) -> None:
        """Let others have the partitions at once; a static member keeps its place instead."""
        if self._membership.is_in_generation and not self._settings.group_instance_id:
            with suppress(KafkaError):  # its session expires soon enough
                request = await self._farewell()
                await self._coordinator.ask(request, LeaveGroupResponse, timeout_s=_LEAVE_S)
        self._membership.leave()

    async def _farewell(self) -> LeaveGroupRequest:
        group_id, member_id = self._membership.group_id, self._membership.member_id
        if await self._coordinator.newest_version(_LEAVE_GROUP) < _SINCE_SEVERAL_LEAVE:
            return LeaveGroupRequest(group_id=group_id, member_id=member_id)
        leaving = [MemberIdentity(member_id=member_id)]
        return LeaveGroupRequest(group_id=group_id, members=leaving)

    # Joining

    async def _join(self, holder: Holder) -> list[TopicPartition]:
        self._note_missing(await self._cluster.missing(self._topics))
        owned = holder.held() if self._keeps else self._had
        known = MemberSubscription(self._topics, owned, self._membership.last_generation)
        answer = await self._ask_to_join(known)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._membership.take_member_id(answer.member_id)
            answer = await self._ask_to_join(known)
        _raise_for(answer.error_code, "JoinGroup")
        is_leader = self._membership.joined(answer)
        assignments = await self._deal_out(answer) if is_leader else []
        request = SyncGroupRequest(
            group_id=self._membership.group_id,
            generation_id=self._membership.generation,
            member_id=self._membership.member_id,
            group_instance_id=self._settings.group_instance_id or None,
            protocol_type="consumer",
            protocol_name=self._membership.protocol,
            assignments=assignments,
        )
        synced = await self._coordinator.ask(
            request, SyncGroupResponse, channel=JOIN_CHANNEL, timeout_s=self._join_s
        )
        _raise_for(synced.error_code, "SyncGroup")
        return decode_assignment(synced.assignment)

    def _note_missing(self, missing: list[str]) -> None:
        """Topics that do not exist hold up no member; they are read once they are created."""
        if missing and missing != self._missing:
            group_id, names = self._membership.group_id, ", ".join(missing)
            _log.warning("group %s: subscribed topics do not exist yet: %s", group_id, names)
        self._missing = missing

    async def _ask_to_join(self, known: MemberSubscription) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=self._membership.group_id,
            session_timeout_ms=self._settings.session_timeout_ms,
            rebalance_timeout_ms=self._settings.max_poll_interval_ms,
            member_id=self._membership.member_id,
            group_instance_id=self._settings.group_instance_id or None,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(
                    name=name, metadata=_ENCODINGS.get(name, encode_subscription)(known)
                )
                for name in self._names
            ],
        )
        return await self._coordinator.ask(
            request, JoinGroupResponse, channel=JOIN_CHANNEL, timeout_s=self._join_s
        )

    async def _deal_out(self, answer: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = [_member(each) for each in answer.members]
        topics = sorted({topic for member in members for topic in member.topics})
        await self._cluster.refresh(topics)
        self._dealt_out = self._partitions(topics)
        assignments = self._membership.deal_out(members, self._dealt_out)
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=encode_assignment(each))
            for member_id, each in assignments.items()
        ]

    def _partitions(self, topics: list[str]) -> dict[str, list[int]]:
        return {topic: self._cluster.metadata.partitions_of(topic) for topic in topics}

    @property
    def _join_s(self) -> float:
        """The coordinator answers only when all have joined, or their time is over."""
        return self._settings.max_poll_interval_ms / 1000 + _JOIN_EXTRA_S

    # Staying

    async def _stay(self) -> None:
        """Return when it is time to join again."""
        interval_s = self._settings.heartbeat_interval_ms / 1000
        while not self._changed.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self._changed.wait()
            if await self._matches_others():
                return None
            if not self._membership.is_in_generation:
                continue
            if self.polls.is_overdue:
                _log.warning(
                    "group %s: left, not polled within max.poll.interval.ms",
                    self._membership.group_id,
                )
                await self.leave()
                return await self._wait_for_poll()
            if not self._changed.is_set():
                await self._beat()
            if self._dealt_out is not None and await self._has_grown(self._dealt_out):
                self._dealt_out = None
                return None
        return None

    async def _stay_alive(self) -> None:
        """Beat without looking at what it means: `_beat` will."""
        if self._membership.is_in_generation:
            await self._ask_to_stay()

    async def _ask_to_stay(self) -> None:
        request = HeartbeatRequest(
            group_id=self._membership.group_id,
            generation_id=self._membership.generation,
            member_id=self._membership.member_id,
            group_instance_id=self._settings.group_instance_id or None,
        )
        timeout_s = self._settings.session_timeout_ms / 1000
        answer = await self._coordinator.ask(request, HeartbeatResponse, timeout_s=timeout_s)
        _raise_for(answer.error_code, "Heartbeat")

    async def _beat(self) -> None:
        try:
            await self._ask_to_stay()
        except KafkaError as error:
            # The next coordinator knows the generation too: no need to give anything back.
            if self._membership.remedy(error.code) is not Remedy.FIND_COORDINATOR:
                raise
            self._coordinator.forget()
            await self._cluster.back_off()

    async def _has_grown(self, dealt_out: Mapping[str, list[int]]) -> bool:
        """Whether there are partitions by now that no member was given."""
        if not all(dealt_out.values()):
            with suppress(KafkaError):  # heartbeats find out what is wrong
                await self._cluster.refresh(dealt_out)
        return self._partitions(list(dealt_out)) != dealt_out

    async def _wait_for_poll(self) -> None:
        while self.polls.is_overdue:
            await self._cluster.back_off()

    async def _recover(self, error: KafkaError, failed: Callable[[KafkaError], None]) -> None:
        match self._membership.remedy(error.code):
            case Remedy.REJOIN:
                _log.info("group %s: joining again: %s", self._membership.group_id, error)
                return
            case Remedy.FIND_COORDINATOR:
                self._coordinator.forget()
            case Remedy.WAIT:
                pass
            case Remedy.GIVE_UP:
                failed(error)
                await self._changed.wait()
        await self._cluster.back_off()

    def _now_ms(self) -> int:
        return self._cluster.clock.monotonic_ms()


def _member(answer: JoinGroupResponseMember) -> GroupParticipant:
    known = decode_subscription(answer.metadata)
    return GroupParticipant(
        answer.member_id, known.topics, answer.group_instance_id, known.owned, known.generation
    )


def _raise_for(number: int, what: str) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"{what}: {code.name}")
