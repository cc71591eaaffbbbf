"""One group of the consumer protocol, as its members' heartbeats move it.

Rules are those of Kafka 3.9, and of Kafka 4 for patterns. A heartbeat brings what a member
has to say; then, step by step: if a subscription or a topic has changed, the group's epoch
moves on; if the targets are of an older epoch, they are computed anew; and the member goes
one step towards its target. Nothing is ever parked: members learn of a change with their
next heartbeat.
"""

from collections.abc import Collection
from dataclasses import replace

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision
from moldau.coordinator.group.attendance import Surroundings, TimerKey
from moldau.coordinator.group.consumer import migration
from moldau.coordinator.group.consumer.assignment import NOTHING, Assignment, is_within
from moldau.coordinator.group.consumer.deadlines import MemberDeadlines
from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.group import ConsumerGroup, member_tombstones
from moldau.coordinator.group.consumer.member import (
    JOINING,
    LEFT,
    LEFT_FOR_A_WHILE,
    ConsumerMember,
    MemberState,
)
from moldau.coordinator.group.consumer.messages import (
    ConsumerDescription,
    DescribedConsumer,
    Heartbeat,
    HeartbeatReply,
)
from moldau.coordinator.group.consumer.reconciliation import Target, reconciled
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    MemberRecord,
    TargetRecord,
)
from moldau.coordinator.group.consumer.subscriptions import refresh
from moldau.coordinator.group.consumer.target import (
    chosen_assignor,
    offered_assignors,
    retarget,
)
from moldau.coordinator.group.consumer.validation import check
from moldau.coordinator.group.records import GroupsRecord
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.runtime.clock import Moment


class ConsumerMachine:
    """Takes what members say; see `MemberState` for how they move."""

    __slots__ = ("_around", "_image", "deadlines", "group")

    def __init__(self, group: ConsumerGroup, around: Surroundings) -> None:
        self.group = group
        self.deadlines = MemberDeadlines(group.group_id, around)
        self._around = around
        # The cluster as it was when the group was found to know all about it.
        self._image: ClusterImage | None = None

    @property
    def config(self) -> GroupConfig:
        return self._around.config

    # Heartbeats

    def heartbeat(
        self, heartbeat: Heartbeat, *, now: Moment
    ) -> Decision[GroupsRecord, HeartbeatReply]:
        """A member joins, is alive or leaves."""
        if heartbeat.epoch in (LEFT, LEFT_FOR_A_WHILE):
            return self._leave(heartbeat, now=now)
        self.require_room(heartbeat.member_id)
        draft = Draft(self.group)
        before = self._admit(heartbeat, draft)
        member = self.settle(draft, before, _updated(before, heartbeat), heartbeat.owned, now=now)
        self.deadlines.begin_session(member, now=now)
        if member.progress != before.progress:
            if member.state is MemberState.UNREVOKED:
                self.deadlines.begin_rebalance(member, now=now)
            else:
                self.deadlines.end_rebalance(member.member_id)
        is_assignment_sent = heartbeat.epoch == JOINING or heartbeat.is_full
        is_assignment_sent = is_assignment_sent or member.assigned != before.assigned
        reply = HeartbeatReply(
            member.member_id,
            member.epoch,
            self.config.group_consumer_heartbeat_interval_ms,
            member.assigned if is_assignment_sent else None,
        )
        return Decision(reply, [*draft.records])

    def require_room(self, member_id: str) -> None:
        """Raise if a member that is not here yet would be one too many."""
        group = self.group
        is_full = len(group.members) >= self.config.group_consumer_max_size
        if is_full and member_id not in group.members:
            raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED)

    def _admit(self, heartbeat: Heartbeat, draft: Draft) -> ConsumerMember:
        """The member that sent the request, as it was until now; raises if it may not."""
        is_joining = heartbeat.epoch == JOINING
        member_id = heartbeat.member_id or heartbeat.new_member_id
        if heartbeat.instance_id is None:
            member = self.known_or_new(member_id, is_joining=is_joining)
        elif is_joining:
            current = self.group.static_member(heartbeat.instance_id)
            if current is not None:
                if current.epoch != LEFT_FOR_A_WHILE:
                    raise KafkaError(ErrorCode.UNRELEASED_INSTANCE_ID)
                return self.replace_static(draft, current, member_id)
            member = self.known_or_new(member_id, is_joining=True)
        else:
            member = self.known_static(heartbeat.instance_id, member_id)
        _require_epoch(member, heartbeat.epoch, heartbeat.owned)
        return member

    def known_or_new(self, member_id: str, *, is_joining: bool) -> ConsumerMember:
        """A member by its id; one that joins may be new."""
        member = self.group.members.get(member_id)
        if member is None:
            if not is_joining:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            return ConsumerMember(member_id=member_id)
        return member

    def known_static(self, instance_id: str, member_id: str) -> ConsumerMember:
        """A static member, unless another has taken its place."""
        member = self.group.static_member(instance_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member.member_id != member_id:
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        return member

    def replace_static(
        self, draft: Draft, current: ConsumerMember, member_id: str
    ) -> ConsumerMember:
        """A new member replaces a static member, and gets all that it had."""
        group_id = self.group.group_id
        member = replace(
            current, member_id=member_id, epoch=JOINING, previous_epoch=-1, revoking=NOTHING
        )
        target = draft.group.target(current.member_id)
        draft.add(
            *member_tombstones(group_id, current.member_id),
            MemberRecord(group_id, member_id, member),
            TargetRecord(group_id, member_id, target),
            CurrentRecord(group_id, member_id, member),
        )
        return member

    # What follows from a request of a member, of whichever protocol

    def settle(
        self,
        draft: Draft,
        before: ConsumerMember,
        after: ConsumerMember,
        owned: Assignment | None,
        *,
        now: Moment,
    ) -> ConsumerMember:
        """Decide on all that follows from what a member has said; returns where it stands."""
        group_id, member_id = draft.group.group_id, after.member_id
        is_new = member_id not in draft.group.members
        if is_new or after != before:
            draft.add(MemberRecord(group_id, member_id, after))
        subscription = (after.topic_names, after.topic_pattern)
        is_changed = is_new or subscription != (before.topic_names, before.topic_pattern)
        self._refresh(draft, is_changed=is_changed, now=now)
        if draft.group.epoch > draft.group.assignment_epoch:
            retarget(draft, self.default_assignor)
        group = draft.group
        target = Target(group.assignment_epoch, group.target(member_id))
        settled = reconciled(after, target, owned=owned, is_free=group.is_free)
        if settled != after:
            draft.add(CurrentRecord(group_id, member_id, settled))
        return settled

    @property
    def default_assignor(self) -> str:
        return offered_assignors(self.config)[0]

    def _refresh(self, draft: Draft, *, is_changed: bool, now: Moment) -> None:
        image = self._around.image()
        if not image.topics:
            # A broker that has just started does not know the cluster yet: a member assigned
            # now would lose all partitions.
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        if not is_changed and image is self._image:
            return
        count = len(draft.records)
        resolve = self._around.resolve
        knows_all = refresh(draft, image, resolve, is_changed=is_changed, wall_ms=now.wall_ms)
        # What is decided may not come to be written: then it has to be found out again.
        self._image = image if knows_all and len(draft.records) == count else None

    # Leaving

    def _leave(
        self, heartbeat: Heartbeat, *, now: Moment
    ) -> Decision[GroupsRecord, HeartbeatReply]:
        reply = HeartbeatReply(heartbeat.member_id, heartbeat.epoch)
        if heartbeat.instance_id is None:
            member = self.known_or_new(heartbeat.member_id, is_joining=False)
        else:
            member = self.known_static(heartbeat.instance_id, heartbeat.member_id)
        if heartbeat.epoch == LEFT:
            return Decision(reply, self.removal([member.member_id], now=now))
        left = replace(member, epoch=LEFT_FOR_A_WHILE, revoking=NOTHING)
        return Decision(reply, [CurrentRecord(self.group.group_id, member.member_id, left)])

    def removal(self, member_ids: Collection[str], *, now: Moment) -> list[GroupsRecord]:
        """The records that remove members; all that stay may be of the classic protocol."""
        members = self.group.members.values()
        staying = [each for each in members if each.member_id not in member_ids]
        if migration.may_downgrade(self.group, staying, self.config):
            return migration.downgraded(self.group, staying, self._around.image())
        draft = Draft(self.group)
        draft.add(*member_tombstones(self.group.group_id, *member_ids))
        around = self._around
        refresh(draft, around.image(), around.resolve, is_changed=True, wall_ms=now.wall_ms)
        return [*draft.records]

    # What is stored and shown

    def describe(self) -> ConsumerDescription:
        """The group as tools see it."""
        group = self.group
        return ConsumerDescription(
            group.state.value,
            group.epoch,
            group.assignment_epoch,
            chosen_assignor(group, self.default_assignor),
            tuple(
                DescribedConsumer(member, group.target(member_id))
                for member_id, member in group.members.items()
            ),
        )

    def apply(self, record: ConsumerRecord, *, now: Moment) -> None:
        """A record was appended, or is read back."""
        self.group.apply(record)
        if isinstance(record, MemberRecord):
            if record.member is None:
                self.deadlines.forget(record.member_id)
            else:
                self.deadlines.ensure_session(self.group.members[record.member_id], now=now)

    # Time

    def begin_sessions(self, *, now: Moment) -> None:
        """The group was loaded: its members have their timeouts to come forward."""
        for member in self.group.members.values():
            self.deadlines.begin_session(member, now=now)
            if member.state is MemberState.UNREVOKED and member.classic is None:
                self.deadlines.begin_rebalance(member, now=now)

    def expire(self, key: TimerKey, *, now: Moment) -> Decision[GroupsRecord, None]:
        """A member sent no request, or did not do its part, for too long."""
        member = self.group.members.get(key.member_id or "")
        if member is None:
            return Decision(None)
        return Decision(None, self.removal([member.member_id], now=now))

    def forget_deadlines(self) -> None:
        """No member is expected here any more."""
        for member_id in self.group.members:
            self.deadlines.forget(member_id)


def pattern_of(machine: ConsumerMachine | None, heartbeat: Heartbeat) -> str:
    """The pattern that a member subscribes by from now on; "" if it does not."""
    if heartbeat.epoch in (LEFT, LEFT_FOR_A_WHILE):
        return ""
    if heartbeat.topic_pattern is not None or machine is None:
        return heartbeat.topic_pattern or ""
    member = machine.group.members.get(heartbeat.member_id)
    return "" if member is None else member.topic_pattern


def check_heartbeat(heartbeat: Heartbeat, around: Surroundings) -> None:
    """Raise for a heartbeat that says what cannot be, whatever the group is like."""
    check(heartbeat, offered_assignors(around.config))


def _updated(member: ConsumerMember, heartbeat: Heartbeat) -> ConsumerMember:
    """The member with what it says of itself; what it does not say is as before."""
    names = heartbeat.topic_names
    pattern = heartbeat.topic_pattern
    timeout_ms = heartbeat.rebalance_timeout_ms
    return replace(
        member,
        instance_id=heartbeat.instance_id or member.instance_id,
        rack_id=heartbeat.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms is None else timeout_ms,
        topic_names=member.topic_names if names is None else tuple(sorted(frozenset(names))),
        topic_pattern=member.topic_pattern if pattern is None else pattern,
        assignor=heartbeat.assignor or member.assignor,
        client_id=heartbeat.client_id,
        client_host=heartbeat.client_host,
        classic=None,
    )


def _require_epoch(member: ConsumerMember, epoch: int, owned: Assignment | None) -> None:
    """Raise unless the member is where it believes to be.

    It may have missed the last response: then it is one epoch behind, and has nothing that
    it does not have by right.
    """
    if epoch == member.epoch:
        return
    is_behind = epoch == member.previous_epoch and epoch < member.epoch
    if not (is_behind and owned is not None and is_within(owned, member.assigned)):
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH, f"{member.member_id} is in epoch {member.epoch}."
        )
