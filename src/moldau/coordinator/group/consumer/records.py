"""The records of `__consumer_offsets` that keep a group of the consumer protocol.

Each has a key (the group, and a member or a regular expression of it) and a content, last;
without content it deletes. The version of a key says what it is: 3 to 8 are those of
Kafka 3.9, 16 is of Kafka 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from moldau.coordinator.group.consumer import stored
from moldau.coordinator.group.consumer.assignment import Assignment
from moldau.coordinator.group.consumer.member import ConsumerMember
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import KnownTopics
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages import consumer_group_patterns as patterns
from moldau.protocol.messages import consumer_group_records as layout
from moldau.protocol.versioned import decode_versioned, encode_versioned

_VALUE_VERSION = 0


class EpochRecord(NamedTuple):
    """The group's epoch; without one the group is over."""

    group_id: str
    epoch: int | None


class TopicsRecord(NamedTuple):
    """What the group knows of its topics."""

    group_id: str
    topics: KnownTopics | None


class MemberRecord(NamedTuple):
    """What a member has said of itself; only that counts, of the member."""

    group_id: str
    member_id: str
    member: ConsumerMember | None


class TargetEpochRecord(NamedTuple):
    """As of which epoch of the group the targets are."""

    group_id: str
    epoch: int | None


class TargetRecord(NamedTuple):
    """What a member shall have."""

    group_id: str
    member_id: str
    target: Assignment | None


class CurrentRecord(NamedTuple):
    """How far a member has come; only that counts, of the member."""

    group_id: str
    member_id: str
    member: ConsumerMember | None


class PatternRecord(NamedTuple):
    """The topics that a regular expression stands for."""

    group_id: str
    pattern: str
    resolved: ResolvedPattern | None


ConsumerRecord = (
    EpochRecord
    | TopicsRecord
    | MemberRecord
    | TargetEpochRecord
    | TargetRecord
    | CurrentRecord
    | PatternRecord
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of record is stored; the first field of its content is the member's id."""

    record: type[Any]
    key: type[Any]
    value: type[Any]
    write: Callable[[Any], object]
    read: Callable[[Any], object]

    @property
    def version(self) -> int:
        return facts_of(self.key).versions[0]


_KINDS = (
    _Kind(
        EpochRecord,
        layout.ConsumerGroupMetadataKey,
        layout.ConsumerGroupMetadataValue,
        lambda epoch: layout.ConsumerGroupMetadataValue(epoch=epoch),
        lambda value: value.epoch,
    ),
    _Kind(
        TopicsRecord,
        layout.ConsumerGroupPartitionMetadataKey,
        layout.ConsumerGroupPartitionMetadataValue,
        stored.topics_value,
        stored.topics_from,
    ),
    _Kind(
        MemberRecord,
        layout.ConsumerGroupMemberMetadataKey,
        layout.ConsumerGroupMemberMetadataValue,
        stored.subscription_value,
        stored.subscription_from,
    ),
    _Kind(
        TargetEpochRecord,
        layout.ConsumerGroupTargetAssignmentMetadataKey,
        layout.ConsumerGroupTargetAssignmentMetadataValue,
        lambda epoch: layout.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch),
        lambda value: value.assignment_epoch,
    ),
    _Kind(
        TargetRecord,
        layout.ConsumerGroupTargetAssignmentMemberKey,
        layout.ConsumerGroupTargetAssignmentMemberValue,
        stored.target_value,
        stored.target_from,
    ),
    _Kind(
        CurrentRecord,
        layout.ConsumerGroupCurrentMemberAssignmentKey,
        layout.ConsumerGroupCurrentMemberAssignmentValue,
        stored.current_value,
        stored.current_from,
    ),
    _Kind(
        PatternRecord,
        patterns.ConsumerGroupRegularExpressionKey,
        patterns.ConsumerGroupRegularExpressionValue,
        stored.pattern_value,
        stored.pattern_from,
    ),
)
_BY_RECORD = {kind.record: kind for kind in _KINDS}
_BY_VERSION = {kind.version: kind for kind in _KINDS}


def encode(record: ConsumerRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    kind = _BY_RECORD[type(record)]
    *names, content = record
    key = kind.key(**dict(zip(kind.key.__slots__, names, strict=True)))
    encoded_key = encode_versioned(key, kind.version)
    if content is None:
        return encoded_key, None
    return encoded_key, encode_versioned(kind.write(content), _VALUE_VERSION)


def decode(version: int, key: bytes, value: bytes | None) -> ConsumerRecord | None:
    """The record, by the version of its key; None for one of another kind."""
    kind = _BY_VERSION.get(version)
    if kind is None:
        return None
    found = decode_versioned(kind.key, key)
    content = None if value is None else kind.read(decode_versioned(kind.value, value))
    record: ConsumerRecord = kind.record(
        *(getattr(found, name) for name in kind.key.__slots__), content
    )
    return record
