"""A group of the consumer protocol: nothing but what its records say.

The group's epoch moves whenever a subscription or a topic changes. The targets follow: they
are of the epoch they were computed for. The members follow their targets, each with an epoch
of its own, which is the target's as soon as the member has given up what it shall not have.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum

from moldau.coordinator.group.compiled import Offsets
from moldau.coordinator.group.consumer.assignment import (
    NOTHING,
    Assignment,
    joined,
    partitions_of,
)
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    EpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
    TopicsRecord,
)
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import KnownTopics
from moldau.coordinator.group.messages import Overview
from moldau.coordinator.group.subscription import CONSUMER


class ConsumerGroupState(Enum):
    """Where a group stands: without members, without a target, on the way to it, or there."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class ConsumerGroup:
    """The members of one group by id, with what they shall have and what they have."""

    __slots__ = (
        "_owners",
        "assignment_epoch",
        "epoch",
        "group_id",
        "members",
        "offsets",
        "patterns",
        "static_ids",
        "targets",
        "topics",
    )

    def __init__(self, group_id: str, offsets: Offsets) -> None:
        self.group_id = group_id
        self.offsets = offsets
        self.epoch = 0
        self.assignment_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        # Member ids by the instance ids of static members.
        self.static_ids: dict[str, str] = {}
        self.targets: dict[str, Assignment] = {}
        self.topics: KnownTopics = {}
        self.patterns: dict[str, ResolvedPattern] = {}
        # By partition, which member has it: it may be giving it up, but has not yet.
        self._owners: dict[tuple[bytes, int], str] = {}

    def copy(self) -> "ConsumerGroup":
        """The same group, to be changed on its own; the offsets stay common."""
        other = ConsumerGroup(self.group_id, self.offsets)
        other.epoch, other.assignment_epoch = self.epoch, self.assignment_epoch
        other.members, other.static_ids = dict(self.members), dict(self.static_ids)
        other.targets, other.topics = dict(self.targets), self.topics
        other.patterns, other._owners = dict(self.patterns), dict(self._owners)
        return other

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(each.has_reached(self.assignment_epoch) for each in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """The member with that instance id."""
        return self.members.get(self.static_ids.get(instance_id, ""))

    def target(self, member_id: str) -> Assignment:
        """What a member shall have."""
        return self.targets.get(member_id, NOTHING)

    def is_free(self, topic_id: bytes, partition: int) -> bool:
        """Whether no member has a partition."""
        return (topic_id, partition) not in self._owners

    def overview(self) -> Overview:
        """The group as lists show it."""
        return Overview(self.group_id, CONSUMER, self.state.value, CONSUMER)

    # Subscriptions

    def topics_of(self, member: ConsumerMember) -> Iterator[str]:
        """The topics that a member subscribes to, by name or by pattern; some may come twice."""
        yield from member.topic_names
        resolved = self.patterns.get(member.topic_pattern)
        if resolved is not None:
            yield from resolved.topics

    def is_subscribed(self, topic: str) -> bool:
        """Whether any member subscribes to a topic."""
        return any(topic in self.topics_of(member) for member in self.members.values())

    @property
    def subscribed(self) -> list[str]:
        """All topics that members subscribe to, in order."""
        members = self.members.values()
        return sorted({topic for member in members for topic in self.topics_of(member)})

    # Records

    def apply(self, record: ConsumerRecord) -> None:
        """Become what a record says. The group's owner deals with the end of it."""
        match record:
            case EpochRecord(_, epoch):
                self.epoch = epoch or 0
            case TopicsRecord(_, topics):
                self.topics = topics or {}
            case MemberRecord(_, member_id, None):
                self._remove(member_id)
            case MemberRecord(_, member_id, ConsumerMember() as member):
                self._subscribe(member_id, member)
            case TargetEpochRecord(_, epoch):
                self.assignment_epoch = epoch or 0
            case TargetRecord(_, member_id, None):
                self.targets.pop(member_id, None)
            case TargetRecord(_, member_id, Mapping() as target):
                self.targets[member_id] = target
            case CurrentRecord(_, member_id, member):
                self._advance(member_id, member)
            case PatternRecord(_, pattern, None):
                self.patterns.pop(pattern, None)
            case PatternRecord(_, pattern, ResolvedPattern() as resolved):
                self.patterns[pattern] = resolved

    def _subscribe(self, member_id: str, stored: ConsumerMember) -> None:
        """Take over what a member says of itself, and leave how far it has come."""
        known = self.members.get(member_id) or ConsumerMember(member_id=member_id)
        self._forget_instance(known)
        if stored.instance_id is not None:
            self.static_ids[stored.instance_id] = member_id
        self.members[member_id] = replace(
            stored,
            member_id=member_id,
            epoch=known.epoch,
            previous_epoch=known.previous_epoch,
            state=known.state,
            assigned=known.assigned,
            revoking=known.revoking,
        )

    def _advance(self, member_id: str, stored: ConsumerMember | None) -> None:
        """Take over how far a member has come, and leave what it says of itself."""
        known = self.members.get(member_id)
        if known is None:
            if stored is None:
                return
            known = ConsumerMember(member_id=member_id)
        self._release(known)
        found = stored or ConsumerMember(member_id=member_id)
        self.members[member_id] = replace(
            known,
            epoch=found.epoch,
            previous_epoch=found.previous_epoch,
            state=found.state,
            assigned=found.assigned,
            revoking=found.revoking,
        )
        for partition in partitions_of(joined(found.assigned, found.revoking)):
            self._owners[partition] = member_id

    def _remove(self, member_id: str) -> None:
        known = self.members.pop(member_id, None)
        if known is not None:
            self._release(known)
            self._forget_instance(known)

    def _release(self, member: ConsumerMember) -> None:
        for partition in partitions_of(joined(member.assigned, member.revoking)):
            if self._owners.get(partition) == member.member_id:
                del self._owners[partition]

    def _forget_instance(self, member: ConsumerMember) -> None:
        # Another may have taken its place already.
        instance_id = member.instance_id
        if instance_id is not None and self.static_ids.get(instance_id) == member.member_id:
            del self.static_ids[instance_id]

    def tombstones(self) -> list[ConsumerRecord]:
        """The records that delete all of the group but its offsets."""
        group_id = self.group_id
        return [
            *member_tombstones(group_id, *self.members),
            *(PatternRecord(group_id, pattern, None) for pattern in self.patterns),
            TargetEpochRecord(group_id, None),
            TopicsRecord(group_id, None),
            EpochRecord(group_id, None),
        ]


def member_tombstones(group_id: str, *member_ids: str) -> list[ConsumerRecord]:
    """The records that delete members."""
    return [
        record
        for member_id in member_ids
        for record in (
            CurrentRecord(group_id, member_id, None),
            TargetRecord(group_id, member_id, None),
            MemberRecord(group_id, member_id, None),
        )
    ]
