"""Members of the classic protocol in a group of the consumer protocol (rolling upgrades).

The coordinator assigns them as all other members. A member's epoch is its generation: it must
join again whenever it has a step to make, and no member waits for others.
"""

from collections.abc import Iterable
from dataclasses import replace

from moldau.coordinator.decision import Decision
from moldau.coordinator.group.consumer import classic_protocol, migration
from moldau.coordinator.group.consumer.assignment import partitions_of, without
from moldau.coordinator.group.consumer.draft import Draft
from moldau.coordinator.group.consumer.machine import ConsumerMachine
from moldau.coordinator.group.consumer.member import ClassicMember, ConsumerMember, MemberState
from moldau.coordinator.group.messages import (
    NO_MEMBER_ID,
    GroupJoin,
    JoinReply,
    MemberIdentity,
    Sync,
    SyncReply,
)
from moldau.coordinator.group.records import GroupsRecord
from moldau.coordinator.group.subscription import CONSUMER
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.runtime.clock import Moment


class ClassicMembers:
    """Answers the classic requests to one group; raises `KafkaError` to refuse one."""

    __slots__ = ("_group", "_image", "_machine")

    def __init__(self, machine: ConsumerMachine, image: ClusterImage) -> None:
        self._machine = machine
        self._group = machine.group
        self._image = image

    def join(self, join: GroupJoin, *, now: Moment) -> Decision[GroupsRecord, JoinReply]:
        """A member joins, or joins again; the answer is immediate, and it is never the leader."""
        self._machine.require_room(join.member_id)
        self._require_protocols(join)
        if join.must_know_id and join.instance_id is None and join.member_id == NO_MEMBER_ID:
            return Decision(JoinReply(ErrorCode.MEMBER_ID_REQUIRED, join.new_member_id))
        draft = Draft(self._group)
        before = self._admit(join, draft)
        subscription = classic_protocol.read_subscription(join.protocols[0][1])
        after = replace(
            before,
            instance_id=join.instance_id or before.instance_id,
            rack_id=subscription.rack_id or before.rack_id,
            rebalance_timeout_ms=join.rebalance_timeout_ms,
            topic_names=classic_protocol.topic_names(subscription),
            topic_pattern="",
            client_id=join.client_id,
            client_host=join.client_host,
            classic=ClassicMember(join.session_timeout_ms, join.protocols),
        )
        owned = classic_protocol.owned_partitions(subscription, self._image)
        member = self._machine.settle(draft, before, after, owned, now=now)
        self._machine.deadlines.begin_session(member, now=now)
        self._machine.deadlines.begin_rebalance(member, now=now)  # until it syncs
        name = join.protocols[0][0]
        reply = JoinReply(ErrorCode.NONE, member.member_id, member.epoch, CONSUMER, name)
        records: list[GroupsRecord] = [*draft.records]
        # A static member that comes back in the classic protocol may have been the last other.
        members = draft.group.members.values()
        if migration.may_downgrade(self._group, members, self._machine.config):
            records += migration.downgraded(draft.group, members, self._image)
        return Decision(reply, records)

    def _require_protocols(self, join: GroupJoin) -> None:
        """Raise unless all classic members have a protocol in common."""
        names = [
            [name for name, _ in each.classic.protocols]
            for each in self._group.members.values()
            if each.classic is not None and each.member_id != join.member_id
        ]
        is_common = any(all(name in each for each in names) for name, _ in join.protocols)
        if join.protocol_type != CONSUMER or not is_common:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _admit(self, join: GroupJoin, draft: Draft) -> ConsumerMember:
        machine = self._machine
        member_id = join.member_id or join.new_member_id
        if join.instance_id is None:
            return machine.known_or_new(member_id, is_joining=True)
        if join.member_id != NO_MEMBER_ID:
            return machine.known_static(join.instance_id, join.member_id)
        current = self._group.static_member(join.instance_id)
        if current is None:
            return machine.known_or_new(member_id, is_joining=True)
        return machine.replace_static(draft, current, member_id)

    def sync(self, sync: Sync, *, now: Moment) -> SyncReply:
        """A member asks for its assignment: it is there already."""
        member = self._require_member(sync.identity)
        assert member.classic is not None
        name = member.classic.protocols[0][0]
        is_of_group = sync.protocol_type in (None, CONSUMER)
        if not is_of_group or sync.protocol_name not in (None, name):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if self._group.epoch > member.epoch and member.state is not MemberState.UNREVOKED:
            self._machine.deadlines.ensure_rebalance(member, now=now)
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        self._machine.deadlines.end_rebalance(member.member_id)
        self._machine.deadlines.begin_session(member, now=now)
        assignment = classic_protocol.write_assignment(member, self._image)
        return SyncReply(ErrorCode.NONE, CONSUMER, name, assignment)

    def heartbeat(self, identity: MemberIdentity, *, now: Moment) -> ErrorCode:
        """A member is alive; the response says when it has a step to make."""
        member = self._require_member(identity)
        self._machine.deadlines.begin_session(member, now=now)
        if self._has_step_to_make(member):
            self._machine.deadlines.ensure_rebalance(member, now=now)
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def _has_step_to_make(self, member: ConsumerMember) -> bool:
        if member.epoch < self._group.epoch or member.state is MemberState.UNREVOKED:
            return True
        if member.state is not MemberState.UNRELEASED:
            return False
        missing = without(self._group.target(member.member_id), member.assigned)
        return all(self._group.is_free(*partition) for partition in partitions_of(missing))

    def leave(
        self, leaving: Iterable[MemberIdentity], *, now: Moment
    ) -> Decision[GroupsRecord, list[ErrorCode]]:
        """Members go, or an administrator sends them away by their instance ids."""
        errors: list[ErrorCode] = []
        removed: dict[str, None] = {}
        for identity in leaving:
            try:
                removed[self._find_leaving(identity).member_id] = None
                errors.append(ErrorCode.NONE)
            except KafkaError as error:
                errors.append(error.code)
        records = self._machine.removal(removed, now=now) if removed else []
        return Decision(errors, records)

    def _find_leaving(self, identity: MemberIdentity) -> ConsumerMember:
        is_sent_away = identity.member_id == NO_MEMBER_ID and identity.instance_id is not None
        if is_sent_away:
            current_id = self._group.static_ids.get(identity.instance_id or "", NO_MEMBER_ID)
            identity = identity._replace(member_id=current_id)
        return self._known(identity)

    def _require_member(self, identity: MemberIdentity) -> ConsumerMember:
        member = self._known(identity)
        if identity.generation != member.epoch:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        return member

    def _known(self, identity: MemberIdentity) -> ConsumerMember:
        if identity.instance_id is None:
            member = self._machine.known_or_new(identity.member_id, is_joining=False)
        else:
            member = self._machine.known_static(identity.instance_id, identity.member_id)
        if member.classic is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member
