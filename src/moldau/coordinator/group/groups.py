"""All groups of one partition of `__consumer_offsets`: what a shard of groups keeps."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, RecordSource
from moldau.coordinator.group import commits, records
from moldau.coordinator.group.attendance import AnyPendingReply, Surroundings, TimerKey
from moldau.coordinator.group.commits import AnyGroup, Errors
from moldau.coordinator.group.compiled import Offsets, offset_codec
from moldau.coordinator.group.consumer import migration
from moldau.coordinator.group.consumer.classic_members import ClassicMembers
from moldau.coordinator.group.consumer.group import ConsumerGroup, ConsumerGroupState
from moldau.coordinator.group.consumer.machine import ConsumerMachine, check_heartbeat
from moldau.coordinator.group.consumer.member import JOINING
from moldau.coordinator.group.consumer.messages import (
    ConsumerDescription,
    Heartbeat,
    HeartbeatReply,
)
from moldau.coordinator.group.consumer.pattern_topics import Resolve, resolve_at_once
from moldau.coordinator.group.consumer.records import ConsumerRecord, EpochRecord
from moldau.coordinator.group.machine import GroupMachine, JoinDecision, SyncDecision
from moldau.coordinator.group.messages import (
    NO_MEMBER_ID,
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
from moldau.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.group.table import GroupTable
from moldau.coordinator.timers import Timers
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.records.batch import NO_PRODUCER, Producer
from moldau.records.pairs import Pair
from moldau.runtime.clock import Moment


class Groups:
    """The groups by id, of either protocol; one that is not there behaves like an empty one."""

    def __init__(
        self,
        config: GroupConfig,
        image: Callable[[], ClusterImage] = ClusterImage,
        resolve: Resolve = resolve_at_once,
    ) -> None:
        self._config = config
        # By producer: the groups whose offsets its open transaction would change.
        self._open: dict[int, dict[str, None]] = {}
        self._timers: Timers[TimerKey] = Timers()
        self._answered: list[AnyPendingReply] = []
        self._around = Surroundings(config, self._timers, self._answered, image, resolve)
        self._table = GroupTable(self._around)
        self._is_serving = False

    def __len__(self) -> int:
        return len(self._table)

    def all(self) -> list[AnyGroup]:
        """Every group of either protocol that is there now."""
        return [machine.group for machine in self._table]

    def find(self, group_id: str) -> GroupMachine | None:
        """The group, if it is there and of the classic protocol."""
        return self._table.classic(group_id)

    def find_consumer(self, group_id: str) -> ConsumerMachine | None:
        """The group, if it is there and of the consumer protocol."""
        return self._table.consumer(group_id)

    # Members

    def join(self, group_id: str, join: GroupJoin, *, now: Moment) -> JoinDecision:
        """See `GroupMachine.join`; a newcomer makes the group, if need be."""
        config = self._config
        shortest, longest = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
        if not shortest <= join.session_timeout_ms <= longest:
            return Decision(JoinReply(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        classic_members = self._classic_members(group_id)
        if classic_members is not None:
            try:
                decision = classic_members.join(join, now=now)
            except KafkaError as error:
                return Decision(JoinReply(error.code, join.member_id))
            return Decision(decision.reply, decision.records)
        machine = self.find(group_id)
        if machine is None:
            if join.member_id != NO_MEMBER_ID:
                return Decision(JoinReply(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id))
            return self._join_anew(group_id, join, now=now)
        return machine.join(join, now=now)

    def _join_anew(self, group_id: str, join: GroupJoin, *, now: Moment) -> JoinDecision:
        """The first member of a group; what is left of another protocol's group is deleted."""
        empty = self.find_consumer(group_id)
        decision = self._table.succeed(group_id, now=now).join(join, now=now)
        if empty is not None:
            decision.records = [*empty.group.tombstones(), *decision.records]
        return decision

    def sync(self, group_id: str, sync: Sync, *, now: Moment) -> SyncDecision:
        """See `GroupMachine.sync`."""
        classic_members = self._classic_members(group_id)
        if classic_members is not None:
            try:
                return Decision(classic_members.sync(sync, now=now))
            except KafkaError as error:
                return Decision(SyncReply(error.code))
        machine = self.find(group_id)
        if machine is None:
            return Decision(SyncReply(ErrorCode.UNKNOWN_MEMBER_ID))
        return machine.sync(sync, now=now)

    def refuse_assignment(self, group_id: str, error: ErrorCode, *, now: Moment) -> None:
        """See `Rebalance.refuse_assignment`."""
        machine = self.find(group_id)
        if machine is not None:
            machine.rebalance.refuse_assignment(error, now=now)

    def heartbeat(self, group_id: str, identity: MemberIdentity, *, now: Moment) -> ErrorCode:
        """See `GroupMachine.heartbeat`."""
        classic_members = self._classic_members(group_id)
        if classic_members is not None:
            try:
                return classic_members.heartbeat(identity, now=now)
            except KafkaError as error:
                return error.code
        machine = self.find(group_id)
        if machine is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return machine.heartbeat(identity, now=now)

    def leave(
        self, group_id: str, leaving: list[MemberIdentity], *, now: Moment
    ) -> Decision[GroupsRecord, list[ErrorCode]]:
        """See `GroupMachine.leave`."""
        classic_members = self._classic_members(group_id)
        if classic_members is not None:
            return classic_members.leave(leaving, now=now)
        machine = self.find(group_id)
        if machine is None:
            return Decision([ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving))
        return machine.leave(leaving, now=now)

    def _classic_members(self, group_id: str) -> ClassicMembers | None:
        """Where the classic protocol goes on in a group of the other, which has members."""
        machine = self.find_consumer(group_id)
        if machine is None or not machine.group.members:
            return None
        return ClassicMembers(machine, self._around.image())

    def consumer_heartbeat(
        self, group_id: str, heartbeat: Heartbeat, *, now: Moment
    ) -> Decision[GroupsRecord, HeartbeatReply]:
        """See `ConsumerMachine.heartbeat`; joining makes the group, or changes its protocol."""
        check_heartbeat(heartbeat, self._around)
        machine = self._table.find(group_id)
        if isinstance(machine, ConsumerMachine):
            return machine.heartbeat(heartbeat, now=now)
        if heartbeat.epoch != JOINING:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        records: list[GroupsRecord] = []
        group = ConsumerGroup(group_id, Offsets())
        if machine is not None:
            records += migration.change(machine.group, group, self._around)
        decision = ConsumerMachine(group, self._around).heartbeat(heartbeat, now=now)
        if machine is not None:
            machine.refuse_all(ErrorCode.REBALANCE_IN_PROGRESS)
        decision.records = [*records, *decision.records]
        return decision

    # Offsets

    def commit(
        self,
        group_id: str,
        identity: MemberIdentity,
        offsets: Mapping[TopicPartition, Committed],
        *,
        now: Moment,
        producer: Producer = NO_PRODUCER,
    ) -> Decision[GroupsRecord, Errors]:
        """Store offsets, with a producer when its transaction commits; raises if none may be."""
        in_transaction = producer != NO_PRODUCER
        machine = self._table.find(group_id)
        if machine is None:
            if identity.generation >= 0 and not in_transaction:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            machine = self._table.succeed(group_id, now=now)
        error = commits.commit_fault(machine.group, identity, is_transactional=in_transaction)
        if error is not None:
            raise KafkaError(error)
        if isinstance(machine, GroupMachine) and not in_transaction:
            machine.note_commit(identity.member_id, now=now)
        decision = commits.commit(machine.group, offsets, self._config)
        decision.producer = producer
        return decision

    def fetch(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool,
        identity: MemberIdentity = NOBODY,
    ) -> dict[TopicPartition, FetchedOffset]:
        """See `commits.fetch`; raises for a member that is not where it believes to be."""
        machine = self._table.find(group_id)
        group = None if machine is None else machine.group
        if (error := commits.fetch_fault(group, identity)) is not None:
            raise KafkaError(error)
        return commits.fetch(group, partitions, require_stable=require_stable)

    def delete_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> Decision[GroupsRecord, Errors]:
        """See `commits.delete`."""
        machine = self._table.find(group_id)
        if machine is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        return commits.delete(machine.group, partitions)

    def forget_partitions(self, partitions: Iterable[TopicPartition]) -> list[GroupsRecord]:
        """Tombstones for partitions that exist no more."""
        gone = list(partitions)
        touched = [group for group in self.all() if group.offsets.committed.keys() & gone]
        return [record for group in touched for record in commits.forget(group, gone)]

    def ids(self) -> list[str]:
        """All groups that are there now."""
        return [group.group_id for group in self.all()]

    def forget_expired(self, group_id: str, *, now: Moment) -> list[GroupsRecord]:
        """Tombstones for what was kept long enough; a group of which nothing is left goes too."""
        machine = self._table.find(group_id)
        if machine is None:
            return []
        self._table.drop_if_hollow(machine)
        return commits.forget_expired(machine.group, self._config, wall_ms=now.wall_ms)

    # Tools

    def describe(self, group_id: str) -> GroupSummary:
        """A group that is not there, or of the other protocol, is shown as dead."""
        machine = self.find(group_id)
        return GroupSummary(GroupState.DEAD.value) if machine is None else machine.group.describe()

    def describe_consumer(self, group_id: str) -> ConsumerDescription:
        """A group of the consumer protocol; raises if it is not there."""
        machine = self.find_consumer(group_id)
        if machine is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        return machine.describe()

    def overviews(self) -> list[Overview]:
        """All groups."""
        return [group.overview() for group in self.all()]

    def delete(self, group_id: str) -> Decision[GroupsRecord, ErrorCode]:
        """Forget a group that has no members."""
        machine = self._table.find(group_id)
        if machine is None:
            return Decision(ErrorCode.GROUP_ID_NOT_FOUND)
        group = machine.group
        if group.state not in (GroupState.EMPTY, ConsumerGroupState.EMPTY):
            return Decision(ErrorCode.NON_EMPTY_GROUP)
        tombstones: list[GroupsRecord] = [
            OffsetRecord(group_id, each, None) for each in group.offsets.committed
        ]
        if isinstance(group, ConsumerGroup):
            return Decision(ErrorCode.NONE, [*tombstones, *group.tombstones()])
        return Decision(ErrorCode.NONE, [*tombstones, GroupRecord(group_id, None)])

    # What the shard needs

    def encode(self, stored: Sequence[GroupsRecord]) -> Iterable[Pair]:
        """Keys and values."""
        return offset_codec.encode_all(stored, OffsetRecord, records.encode)

    def apply(self, stored: Sequence[GroupsRecord], source: RecordSource) -> None:
        """Records were appended."""
        first, count = stored[0], 0
        if source.producer_id == NO_PRODUCER_ID and isinstance(first, OffsetRecord):
            count = self._table.store(stored, first, source)  # there may be many of them
        for number in range(count, len(stored)):
            self._apply(stored[number], source._replace(log_offset=source.log_offset + number))

    def _apply(self, record: GroupsRecord, source: RecordSource) -> None:
        if isinstance(record, OffsetRecord):
            group_id, partition, given = record
            committed = None if given is None else given.at(source.log_offset)
            self._apply_offset(group_id, partition, committed, source)
        elif isinstance(record, GroupRecord):
            self._apply_group(record, source)
        else:
            self._apply_consumer(record, source)

    def _apply_group(self, record: GroupRecord, source: RecordSource) -> None:
        group_id, value = record
        machine = self.find(group_id)
        if value is None:
            if machine is not None:
                self._table.end(machine, now=source.moment)
            return
        is_loaded = machine is None or not machine.group.members
        machine = machine or self._table.succeed(group_id, now=source.moment)
        machine.rebalance.apply(value, now=source.moment)
        if is_loaded and value.members and self._is_serving:
            # It was of the other protocol; the members left there rebalance.
            machine.begin_sessions(now=source.moment)
            machine.rebalance.begin(now=source.moment)

    def _apply_consumer(self, record: ConsumerRecord, source: RecordSource) -> None:
        machine = self.find_consumer(record.group_id)
        if machine is None:
            if record[-1] is None:
                return
            machine = self._table.succeed_as_consumer(record.group_id)
        machine.apply(record, now=source.moment)
        if isinstance(record, EpochRecord) and record.epoch is None:
            self._table.end(machine, now=source.moment)

    def _apply_offset(
        self,
        group_id: str,
        partition: TopicPartition,
        committed: Committed | None,
        source: RecordSource,
    ) -> None:
        machine = self._table.find(group_id)
        if machine is None and committed is None:
            return
        machine = machine or self._table.succeed(group_id, now=source.moment)
        machine.group.offsets.apply(partition, committed, source.producer_id)
        if source.producer_id != NO_PRODUCER_ID:
            self._open.setdefault(source.producer_id, {})[group_id] = None
        elif committed is None:
            self._table.drop_if_hollow(machine)

    def replay(self, key: bytes, value: bytes | None, source: RecordSource) -> None:
        """Read a record back; those of other kinds of group are skipped."""
        if key.startswith(offset_codec.KEY_STARTS):
            group_id, partition = offset_codec.decode_key(key)
            read, at = offset_codec.decode_value, source.log_offset
            committed = None if value is None else read(value, at)
            self._apply_offset(group_id, partition, committed, source)
            return
        record = records.decode(key, value)
        if record is not None:
            self._apply(record, source)

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """A producer's transaction is decided in this partition."""
        for group_id in self._open.pop(producer_id, {}):
            machine = self._table.find(group_id)
            if machine is not None:
                machine.group.offsets.end_transaction(producer_id, is_commit=is_commit)

    def begin(self, *, now: Moment) -> None:
        """Everything was read back; from here on there are deadlines."""
        self._is_serving = True
        for machine in self._table:
            machine.begin_sessions(now=now)

    def unload(self) -> None:
        """Another broker leads the partition; parked requests are answered."""
        for machine in self._table:
            if isinstance(machine, GroupMachine):
                machine.unload()

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to do, on the monotonic clock."""
        return self._timers.next_deadline_ms()

    def take_due(self, *, now: Moment) -> list[TimerKey]:
        """The deadlines that have come, for `expire` one after the other."""
        return self._timers.take_due(now_ms=now.monotonic_ms)

    def expire(self, key: TimerKey, *, now: Moment) -> Decision[GroupsRecord, None]:
        """Act on a deadline."""
        machine = self._table.find(key.group_id)
        return Decision(None) if machine is None else machine.expire(key, now=now)

    def take_answered(self) -> list[AnyPendingReply]:
        """The parked replies that have become known since the last call."""
        if not self._answered:
            return []
        answered, self._answered[:] = self._answered[:], []
        return answered
