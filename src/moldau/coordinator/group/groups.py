"""All groups of one partition of `__consumer_offsets`: what a shard of groups keeps."""

from collections.abc import Iterable, Mapping

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, Moment, Source
from moldau.coordinator.group import commits, records
from moldau.coordinator.group.attendance import AnyParked, Surroundings, TimerKey
from moldau.coordinator.group.commits import Errors
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.machine import GroupMachine, JoinDecision, SyncDecision
from moldau.coordinator.group.messages import (
    NO_MEMBER_ID,
    Committed,
    Description,
    FetchedOffset,
    Identity,
    Join,
    JoinReply,
    Overview,
    Sync,
    SyncReply,
)
from moldau.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.timers import Timers
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.records.batch import NO_PRODUCER, Producer


class Groups:
    """The groups by id; one that is not there behaves like an empty one."""

    def __init__(self, config: GroupConfig) -> None:
        self._config = config
        self._groups: dict[str, GroupMachine] = {}
        # By producer: the groups whose offsets its open transaction would change.
        self._open: dict[int, dict[str, None]] = {}
        self._timers: Timers[TimerKey] = Timers()
        self._answered: list[AnyParked] = []
        self._around = Surroundings(config, self._timers, self._answered)

    def __len__(self) -> int:
        return len(self._groups)

    def find(self, group_id: str) -> GroupMachine | None:
        """The group, if it is there."""
        return self._groups.get(group_id)

    # Members

    def join(self, group_id: str, join: Join, *, now: Moment) -> JoinDecision:
        """See `GroupMachine.join`; a newcomer makes the group, if need be."""
        config = self._config
        shortest, longest = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
        if not shortest <= join.session_timeout_ms <= longest:
            return Decision(JoinReply(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        machine = self.find(group_id)
        if machine is None:
            if join.member_id != NO_MEMBER_ID:
                return Decision(JoinReply(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id))
            machine = self._make(group_id, now=now)
        return machine.join(join, now=now)

    def sync(self, group_id: str, sync: Sync, *, now: Moment) -> SyncDecision:
        """See `GroupMachine.sync`."""
        machine = self.find(group_id)
        if machine is None:
            return Decision(SyncReply(ErrorCode.UNKNOWN_MEMBER_ID))
        return machine.sync(sync, now=now)

    def refuse_assignment(self, group_id: str, error: ErrorCode, *, now: Moment) -> None:
        """See `Rebalance.refuse_assignment`."""
        machine = self.find(group_id)
        if machine is not None:
            machine.rebalance.refuse_assignment(error, now=now)

    def heartbeat(self, group_id: str, identity: Identity, *, now: Moment) -> ErrorCode:
        """See `GroupMachine.heartbeat`."""
        machine = self.find(group_id)
        if machine is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return machine.heartbeat(identity, now=now)

    def leave(
        self, group_id: str, leaving: list[Identity], *, now: Moment
    ) -> Decision[GroupsRecord, list[ErrorCode]]:
        """See `GroupMachine.leave`."""
        machine = self.find(group_id)
        if machine is None:
            return Decision([ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving))
        return machine.leave(leaving, now=now)

    # Offsets

    def commit(
        self,
        group_id: str,
        identity: Identity,
        offsets: Mapping[TopicPartition, Committed],
        *,
        now: Moment,
        producer: Producer = NO_PRODUCER,
    ) -> Decision[GroupsRecord, Errors]:
        """Store offsets, with a producer when its transaction commits; raises if none may be."""
        is_transactional = producer != NO_PRODUCER
        machine = self.find(group_id)
        if machine is None:
            if identity.generation >= 0 and not is_transactional:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            machine = self._make(group_id, now=now)
        group = machine.group
        error = commits.commit_fault(group, identity, is_transactional=is_transactional)
        if error is not None:
            raise KafkaError(error)
        if identity.member_id in group.members and not is_transactional:
            machine.note_alive(identity.member_id, now=now)
        decision = commits.commit(group, offsets, self._config)
        decision.producer = producer
        return decision

    def fetch(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool,
    ) -> dict[TopicPartition, FetchedOffset]:
        """See `commits.fetch`."""
        machine = self.find(group_id)
        group = None if machine is None else machine.group
        return commits.fetch(group, partitions, require_stable=require_stable)

    def delete_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> Decision[GroupsRecord, Errors]:
        """See `commits.delete`."""
        machine = self.find(group_id)
        if machine is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        return commits.delete(machine.group, partitions)

    def forget_partitions(self, partitions: Iterable[TopicPartition]) -> list[GroupsRecord]:
        """Tombstones for partitions that exist no more."""
        gone = list(partitions)
        tombstones: list[GroupsRecord] = []
        for machine in self._groups.values():
            group = machine.group
            if any(each in group.offsets.committed for each in gone):
                tombstones += commits.forget(group, gone)
        return tombstones

    def ids(self) -> list[str]:
        """All groups that are there now."""
        return list(self._groups)

    def forget_expired(self, group_id: str, *, now: Moment) -> list[GroupsRecord]:
        """Tombstones for what was kept long enough; a group of which nothing is left goes too."""
        machine = self.find(group_id)
        if machine is None:
            return []
        self._drop_if_hollow(machine)
        return commits.forget_expired(machine.group, self._config, wall_ms=now.wall_ms)

    # Tools

    def describe(self, group_id: str) -> Description:
        """A group that is not there is shown as dead."""
        machine = self.find(group_id)
        return Description(GroupState.DEAD.value) if machine is None else machine.group.describe()

    def overviews(self) -> list[Overview]:
        """All groups."""
        return [
            Overview(group_id, machine.group.protocol_type or "", machine.group.state.value)
            for group_id, machine in self._groups.items()
        ]

    def delete(self, group_id: str) -> Decision[GroupsRecord, ErrorCode]:
        """Forget a group that has no members."""
        machine = self.find(group_id)
        if machine is None:
            return Decision(ErrorCode.GROUP_ID_NOT_FOUND)
        group = machine.group
        if group.state is not GroupState.EMPTY:
            return Decision(ErrorCode.NON_EMPTY_GROUP)
        tombstones: list[GroupsRecord] = [
            OffsetRecord(group_id, each, None) for each in group.offsets.committed
        ]
        return Decision(ErrorCode.NONE, [*tombstones, GroupRecord(group_id, None)])

    # What the shard needs

    def encode(self, record: GroupsRecord) -> tuple[bytes, bytes | None]:
        """Key and value."""
        return records.encode(record)

    def apply(self, record: GroupsRecord, source: Source) -> None:
        """A record was appended, or is read back."""
        if isinstance(record, OffsetRecord):
            self._apply_offset(record, source)
        elif record.value is None:
            self._remove(record.group_id)
        else:
            group_id = record.group_id
            machine = self._groups.get(group_id) or self._make(group_id, now=source.moment)
            machine.rebalance.apply(record.value, now=source.moment)

    def _apply_offset(self, record: OffsetRecord, source: Source) -> None:
        group_id, partition, committed = record
        machine = self._groups.get(group_id)
        if machine is None:
            if committed is None:
                return
            machine = self._make(group_id, now=source.moment)
        if committed is not None and committed.log_offset != source.log_offset:
            committed = committed._replace(log_offset=source.log_offset)
        machine.group.offsets.apply(partition, committed, source.producer_id)
        if source.producer_id != NO_PRODUCER_ID:
            self._open.setdefault(source.producer_id, {})[group_id] = None
        elif committed is None:
            self._drop_if_hollow(machine)

    def replay(self, key: bytes, value: bytes | None, source: Source) -> None:
        """Read a record back; those of other kinds of group are skipped."""
        record = records.decode(key, value, log_offset=source.log_offset)
        if record is not None:
            self.apply(record, source)

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """A producer's transaction is decided in this partition."""
        for group_id in self._open.pop(producer_id, {}):
            machine = self.find(group_id)
            if machine is not None:
                machine.group.offsets.end_transaction(producer_id, is_commit=is_commit)

    def begin(self, *, now: Moment) -> None:
        """Everything was read back; from here on there are deadlines."""
        for machine in self._groups.values():
            machine.begin_sessions(now=now)

    def unload(self) -> None:
        """Another broker leads the partition; whoever is parked here is told."""
        for machine in self._groups.values():
            machine.unload()

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to do, on the monotonic clock."""
        return self._timers.next_deadline_ms()

    def take_due(self, *, now: Moment) -> list[TimerKey]:
        """The deadlines that have come, for `expire` one after the other."""
        return self._timers.take_due(now_ms=now.monotonic_ms)

    def expire(self, key: TimerKey, *, now: Moment) -> Decision[GroupsRecord, None]:
        """Act on a deadline."""
        machine = self.find(key.group_id)
        return Decision(None) if machine is None else machine.expire(key, now=now)

    def take_answered(self) -> list[AnyParked]:
        """The parked replies that have become known since the last call."""
        if not self._answered:
            return []
        answered = self._answered[:]
        self._answered.clear()
        return answered

    def _make(self, group_id: str, *, now: Moment) -> GroupMachine:
        machine = GroupMachine(Group(group_id, wall_ms=now.wall_ms), self._around)
        self._groups[group_id] = machine
        return machine

    def _drop_if_hollow(self, machine: GroupMachine) -> None:
        """A group that never had a generation is nothing but its offsets."""
        group = machine.group
        if group.generation == 0 and group.state is GroupState.EMPTY and not group.offsets:
            self._remove(group.group_id)

    def _remove(self, group_id: str) -> None:
        machine = self._groups.get(group_id)
        if machine is None:
            return
        if machine.group.offsets.open:
            # A transaction may still bring offsets to a group that is otherwise gone.
            machine.group.offsets.committed.clear()
            return
        machine.unload()
        for member_id in (None, *machine.group.members, *machine.group.pending_ids):
            self._timers.cancel(TimerKey(group_id, member_id))
        del self._groups[group_id]
