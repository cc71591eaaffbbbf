"""The group coordinator of a broker: every request about a group goes through here.

It finds the group's shard, lets the machine decide, has the decision written, and waits for
what the reply depends on. Group-wide refusals are raised as `KafkaError`.
"""

import asyncio
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.counts import GroupCounts
from moldau.coordinator.decision import Decision, PendingReply, Reply
from moldau.coordinator.group.commits import AnyGroup, Errors
from moldau.coordinator.group.consumer.machine import pattern_of
from moldau.coordinator.group.consumer.messages import (
    ConsumerDescription,
    Heartbeat,
    HeartbeatReply,
)
from moldau.coordinator.group.consumer.pattern_topics import PatternTopics
from moldau.coordinator.group.consumer.target import offered_assignors
from moldau.coordinator.group.consumer.validation import check
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import (
    NOBODY,
    Committed,
    FetchedOffset,
    GroupJoin,
    GroupSummary,
    JoinReply,
    MemberIdentity,
    Overview,
    Sync,
    SyncReply,
)
from moldau.coordinator.group.records import GroupsRecord, OffsetRecord
from moldau.coordinator.group.subscription import CONSUMER
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.coordinator.shards import Shards
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.model import TopicPartition
from moldau.records.batch import NO_PRODUCER, Producer

_log = logging.getLogger(__name__)

_GROUPS_PER_STEP = 200
_TOMBSTONES_PER_BATCH = 1000

_TOO_FEW_REPLICAS = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
_NOT_LEADING = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR)
_TOO_LARGE = (
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.INVALID_FETCH_SIZE,
)


class GroupCoordinator:
    """All groups that this broker coordinates."""

    def __init__(
        self,
        shards: Shards[Groups],
        config: GroupConfig,
        ports: ShardPorts,
        *,
        new_uuid: Callable[[], bytes],
        patterns: PatternTopics | None = None,
    ) -> None:
        self.shards = shards
        self._config = config
        self._ports = ports
        self._new_uuid = new_uuid
        self._patterns = patterns
        self._resolving = asyncio.Lock()
        self.counts = GroupCounts()

    async def run(self) -> None:
        """Load, keep deadlines and forget old offsets, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.shards.run())
            tasks.create_task(self._keep_retention())

    # Members

    def new_member_id(self, client_name: str) -> str:
        """A unique id that shows the client's name."""
        uuid = self._new_uuid().hex()
        parts = (uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])
        return f"{client_name}-{'-'.join(parts)}"

    def new_consumer_id(self) -> str:
        """An id for a member of the consumer protocol that brings none."""
        return urlsafe_b64encode(self._new_uuid()).decode().rstrip("=")

    async def join(self, group_id: str, join: GroupJoin) -> JoinReply:
        """Join a group; the answer comes with the next generation."""
        shard = self._shard(group_id)
        decision = shard.machine.join(group_id, join, now=self._ports.now())
        try:
            end_offset = shard.write(decision)
            self.shards.note_deadline(shard)
            if isinstance(decision.reply, PendingReply):
                return await shard.until_answered(decision.reply)
            if decision.records:
                await shard.until_committed(end_offset)
        except KafkaError as error:
            return JoinReply(_group_error(error), join.member_id)
        return decision.reply

    async def sync(self, group_id: str, sync: Sync) -> SyncReply:
        """Ask for an assignment; the answer comes when the leader's is stored."""
        try:
            shard = self._shard(group_id)
        except KafkaError as error:
            if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                # The rebalance is lost. Old clients know this error, and join again.
                return SyncReply(ErrorCode.REBALANCE_IN_PROGRESS)
            raise
        decision = shard.machine.sync(group_id, sync, now=self._ports.now())
        try:
            shard.write(decision)
            self.counts.completed_rebalances += len(decision.records)
        except KafkaError as error:
            now = self._ports.now()
            shard.machine.refuse_assignment(group_id, _group_error(error), now=now)
            shard.wake_answered()
        self.shards.note_deadline(shard)
        reply = decision.reply
        try:
            if isinstance(reply, PendingReply):
                reply = await shard.until_answered(reply)
            if reply.error is ErrorCode.NONE:
                await shard.until_committed(shard.journal.end_offset)
        except KafkaError as error:
            return SyncReply(_group_error(error))
        return reply

    def heartbeat(self, group_id: str, identity: MemberIdentity) -> ErrorCode:
        """A member is alive."""
        try:
            shard = self._shard(group_id)
        except KafkaError as error:
            if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return ErrorCode.NONE  # no member is removed while loading
            raise
        return shard.machine.heartbeat(group_id, identity, now=self._ports.now())

    def leave(self, group_id: str, leaving: list[MemberIdentity]) -> list[ErrorCode]:
        """Members leave."""
        shard = self._shard(group_id)
        decision = shard.machine.leave(group_id, leaving, now=self._ports.now())
        self._write_or_warn(shard, decision)
        self.shards.note_deadline(shard)
        return decision.reply

    async def consumer_heartbeat(self, group_id: str, heartbeat: Heartbeat) -> HeartbeatReply:
        """A member of the consumer protocol joins, is alive or leaves."""
        if CONSUMER not in self._config.group_coordinator_rebalance_protocols:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        if group_id == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
        check(heartbeat, offered_assignors(self._config))
        pattern = pattern_of(self._shard(group_id).machine.find_consumer(group_id), heartbeat)
        if pattern:
            await self._resolve(pattern)
        shard = self._shard(group_id)
        decision = shard.machine.consumer_heartbeat(group_id, heartbeat, now=self._ports.now())
        try:
            end_offset = shard.write(decision)
            self.shards.note_deadline(shard)
            await shard.until_committed(end_offset)
        except KafkaError as error:
            raise KafkaError(_consumer_error(error)) from error
        return decision.reply

    async def _resolve(self, pattern: str) -> None:
        """Find the topics of a pattern, if they are not known; of one pattern at a time."""
        patterns = self._patterns
        if patterns is None or patterns.is_known(pattern):
            return
        async with self._resolving:
            if not patterns.is_known(pattern):
                for _ in patterns.steps(pattern):
                    await asyncio.sleep(0)

    # Offsets

    async def commit(
        self,
        group_id: str,
        identity: MemberIdentity,
        offsets: Mapping[TopicPartition, Committed],
        producer: Producer = NO_PRODUCER,
        guard: Guard | None = None,
    ) -> Errors:
        """Store offsets, with a producer as a part of its transaction."""
        shard = self._shard(group_id, is_name_needed=producer != NO_PRODUCER)
        now = self._ports.now()
        decision = shard.machine.commit(group_id, identity, offsets, now=now, producer=producer)
        decision.guard = guard
        try:
            end_offset = shard.write(decision, now)
            if decision.records:
                if not shard.is_committed(end_offset):
                    await shard.until_committed(end_offset)
                self.counts.committed_offsets += len(decision.records)
        except KafkaError as error:
            code = _commit_error(error)
            return {
                partition: code if each is ErrorCode.NONE else each
                for partition, each in decision.reply.items()
            }
        return decision.reply

    async def fetch(
        self,
        group_id: str,
        partitions: Sequence[TopicPartition] | None,
        *,
        require_stable: bool,
        identity: MemberIdentity = NOBODY,
    ) -> dict[TopicPartition, FetchedOffset]:
        """How far a group has read; what could still be lost is not returned."""
        shard = self._shard(group_id, is_name_needed=False)
        fetched = shard.machine.fetch(
            group_id, partitions, require_stable=require_stable, identity=identity
        )
        try:
            await shard.until_committed(shard.journal.end_offset)
        except KafkaError as error:
            raise KafkaError(_tool_error(error)) from error
        return fetched

    async def delete_offsets(self, group_id: str, partitions: Iterable[TopicPartition]) -> Errors:
        """Forget offsets."""
        shard = self._shard(group_id)
        decision = shard.machine.delete_offsets(group_id, partitions)
        await self._store(shard, decision)
        self.counts.deleted_offsets += _offset_count(decision.records)
        return decision.reply

    def forget_partitions(self, partitions: Sequence[TopicPartition]) -> None:
        """Forget the offsets of partitions that were deleted with their topic."""
        for shard in self.shards:
            tombstones = shard.machine.forget_partitions(partitions)
            self.counts.deleted_offsets += self._write_tombstones(shard, tombstones)

    def end_transaction(self, partition: int, producer_id: int, *, is_commit: bool) -> None:
        """A marker was committed to a partition of the offsets topic."""
        self.shards.at(partition).machine.end_transaction(producer_id, is_commit=is_commit)

    # Tools

    def describe(self, group_id: str) -> GroupSummary:
        """One group."""
        return self._shard(group_id, is_name_needed=False).machine.describe(group_id)

    def describe_consumer(self, group_id: str) -> ConsumerDescription:
        """One group of the consumer protocol."""
        if CONSUMER not in self._config.group_coordinator_rebalance_protocols:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        return self._shard(group_id).machine.describe_consumer(group_id)

    def all(self) -> list[AnyGroup]:
        """Every group that this broker coordinates and has loaded."""
        return [group for shard in self.shards for group in shard.machine.all()]

    def overviews(self) -> tuple[ErrorCode, list[Overview]]:
        """All groups, and whether there may be more."""
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        error = loading if self.shards.is_loading else ErrorCode.NONE
        return error, [each for shard in self.shards for each in shard.machine.overviews()]

    async def delete(self, group_id: str) -> ErrorCode:
        """Forget a group without members."""
        shard = self._shard(group_id, is_name_needed=False)
        decision = shard.machine.delete(group_id)
        await self._store(shard, decision)
        self.counts.deleted_offsets += _offset_count(decision.records)
        return decision.reply

    # Retention

    async def _keep_retention(self) -> None:
        while True:
            await asyncio.sleep(self._config.offsets_retention_check_interval_ms / 1000)
            await self.forget_expired()

    async def forget_expired(self) -> None:
        """Forget what was kept long enough, a few groups at a time."""
        for shard in self.shards:
            tombstones: list[GroupsRecord] = []
            for index, group_id in enumerate(shard.machine.ids(), 1):
                tombstones += shard.machine.forget_expired(group_id, now=self._ports.now())
                if index % _GROUPS_PER_STEP == 0 or len(tombstones) >= _TOMBSTONES_PER_BATCH:
                    self.counts.expired_offsets += self._write_tombstones(shard, tombstones)
                    tombstones = []
                    await asyncio.sleep(0)
            self.counts.expired_offsets += self._write_tombstones(shard, tombstones)

    def _write_tombstones(self, shard: Shard[Groups], tombstones: list[GroupsRecord]) -> int:
        """Returns how many of them are of offsets."""
        for start in range(0, len(tombstones), _TOMBSTONES_PER_BATCH):
            batch = tombstones[start : start + _TOMBSTONES_PER_BATCH]
            self._write_or_warn(shard, Decision(None, batch))
        return _offset_count(tombstones)

    def _write_or_warn(self, shard: Shard[Groups], decision: Decision[GroupsRecord, Reply]) -> None:
        """For what no request waits for, and what would be decided again after a failover."""
        if shard.is_closed:
            return
        try:
            shard.write(decision)
        except KafkaError as error:
            _log.warning("Failed to append to %s: %s", shard.journal.name, error)

    async def _store(self, shard: Shard[Groups], decision: Decision[GroupsRecord, Reply]) -> None:
        try:
            end_offset = shard.write(decision)
            if decision.records:
                await shard.until_committed(end_offset)
        except KafkaError as error:
            raise KafkaError(_tool_error(error)) from error

    def _shard(self, group_id: str, *, is_name_needed: bool = True) -> Shard[Groups]:
        # Offsets of the group without a name are an old custom of tools.
        if group_id == "" and is_name_needed:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        return self.shards.of(group_id)


def _offset_count(records: Iterable[GroupsRecord]) -> int:
    return sum(isinstance(record, OffsetRecord) for record in records)


def _group_error(error: KafkaError) -> ErrorCode:
    """The error that members get when a group could not be stored."""
    code = error.code
    if code in _TOO_FEW_REPLICAS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in _NOT_LEADING:
        return ErrorCode.NOT_COORDINATOR
    if code is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.UNKNOWN_SERVER_ERROR if code in _TOO_LARGE else code


def _consumer_error(error: KafkaError) -> ErrorCode:
    """The error that members of the consumer protocol get then: they ask again."""
    if error.code is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return _group_error(error)


def _commit_error(error: KafkaError) -> ErrorCode:
    """The error that a member gets when its offsets could not be stored."""
    code = error.code
    if code in _TOO_FEW_REPLICAS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in _NOT_LEADING:
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.INVALID_COMMIT_OFFSET_SIZE if code in _TOO_LARGE else code


def _tool_error(error: KafkaError) -> ErrorCode:
    """The error that tools and readers get when something may never be committed."""
    if error.code in (*_NOT_LEADING, ErrorCode.NOT_COORDINATOR):
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.COORDINATOR_NOT_AVAILABLE
