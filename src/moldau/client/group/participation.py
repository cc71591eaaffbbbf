"""Takes part in a group: joins, keeps alive with heartbeats, and joins again when it must."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from moldau.client.group.assignors import Member
from moldau.client.group.consumer_bytes import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.membership import Membership, Remedy
from moldau.client.settings import ConsumerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
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

Assigned = Callable[[list[TopicPartition]], Awaitable[None]]
Revoked = Callable[[], Awaitable[None]]
Failed = Callable[[KafkaError], None]


class Participation:
    """The asyncio owner of a membership; all partitions are given back before it joins again."""

    def __init__(self, coordinator: Coordinator, membership: Membership, names: list[str]) -> None:
        settings = coordinator.cluster.settings
        assert isinstance(settings, ConsumerSettings)
        self._settings: ConsumerSettings = settings
        self._coordinator = coordinator
        self._cluster = coordinator.cluster
        self._membership = membership
        self._names = names
        self._topics: tuple[str, ...] = ()
        self._dealt_out: Mapping[str, list[int]] | None = None
        self._changed = asyncio.Event()
        self._polled_ms = self._now_ms()
        self._polling_count = 0

    # What the consumer calls

    def subscribe(self, topics: tuple[str, ...]) -> None:
        """Read these topics from the next generation on."""
        self._topics = topics
        self._changed.set()

    def begin_poll(self) -> None:
        """The user waits for records: this counts as being alive."""
        self._polling_count += 1

    def end_poll(self) -> None:
        """The user does not wait any more."""
        self._polling_count -= 1
        self.note_poll()

    def note_poll(self) -> None:
        """The user has records to work on, for no longer than `max.poll.interval.ms`."""
        self._polled_ms = self._now_ms()

    async def run(self, assigned: Assigned, revoked: Revoked, failed: Failed) -> None:
        """Take part until cancelled."""
        while True:
            self._changed.clear()
            try:
                await revoked()
                if self._topics:
                    await assigned(await self._join())
                else:
                    await self.leave()
                await self._stay()
            except KafkaError as error:
                await self._recover(error, failed)

    async def leave(self) -> None:
        """Let others have the partitions at once; a static member keeps its place instead."""
        if self._membership.is_in_generation and not self._settings.group_instance_id:
            with suppress(KafkaError):  # whoever is gone is missed soon enough
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

    async def _join(self) -> list[TopicPartition]:
        for topic in self._topics:
            await self._cluster.wait_for_topic(topic, timeout_s=self._cluster.timeout_s)
        answer = await self._ask_to_join()
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._membership.take_member_id(answer.member_id)
            answer = await self._ask_to_join()
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

    async def _ask_to_join(self) -> JoinGroupResponse:
        subscription = encode_subscription(self._topics)
        request = JoinGroupRequest(
            group_id=self._membership.group_id,
            session_timeout_ms=self._settings.session_timeout_ms,
            rebalance_timeout_ms=self._settings.max_poll_interval_ms,
            member_id=self._membership.member_id,
            group_instance_id=self._settings.group_instance_id or None,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=subscription) for name in self._names
            ],
        )
        return await self._coordinator.ask(
            request, JoinGroupResponse, channel=JOIN_CHANNEL, timeout_s=self._join_s
        )

    async def _deal_out(self, answer: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = [
            Member(each.member_id, decode_subscription(each.metadata), each.group_instance_id)
            for each in answer.members
        ]
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
            if not self._membership.is_in_generation:
                continue
            if self._is_overdue():
                _log.warning(
                    "group %s: left, since nothing was polled for max.poll.interval.ms",
                    self._membership.group_id,
                )
                await self.leave()
                return await self._wait_for_poll()
            if not self._changed.is_set():
                await self._beat()
            if self._dealt_out is not None and self._has_grown(self._dealt_out):
                self._dealt_out = None
                return None
        return None

    async def _beat(self) -> None:
        request = HeartbeatRequest(
            group_id=self._membership.group_id,
            generation_id=self._membership.generation,
            member_id=self._membership.member_id,
            group_instance_id=self._settings.group_instance_id or None,
        )
        timeout_s = self._settings.session_timeout_ms / 1000
        try:
            answer = await self._coordinator.ask(request, HeartbeatResponse, timeout_s=timeout_s)
            _raise_for(answer.error_code, "Heartbeat")
        except KafkaError as error:
            # Whoever coordinates next knows the generation too: no need to give anything back.
            if self._membership.remedy(error.code) is not Remedy.FIND_COORDINATOR:
                raise
            self._coordinator.forget()
            await self._cluster.back_off()

    def _has_grown(self, dealt_out: Mapping[str, list[int]]) -> bool:
        """Whether there are partitions by now that nobody was given."""
        return self._partitions(list(dealt_out)) != dealt_out

    def _is_overdue(self) -> bool:
        idle_ms = self._now_ms() - self._polled_ms
        return self._polling_count == 0 and idle_ms > self._settings.max_poll_interval_ms

    async def _wait_for_poll(self) -> None:
        while self._is_overdue():
            await self._cluster.back_off()

    async def _recover(self, error: KafkaError, failed: Failed) -> None:
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


def _raise_for(number: int, what: str) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"{what}: {code.name}")
