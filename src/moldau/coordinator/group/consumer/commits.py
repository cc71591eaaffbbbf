"""Which members may commit, fetch and delete offsets of a group of the consumer protocol."""

from collections.abc import Iterable

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.messages import NO_MEMBER_ID, MemberIdentity
from moldau.coordinator.group.records import GroupsRecord, OffsetRecord
from moldau.errors import ErrorCode
from moldau.model import TopicPartition

_MINUTE_MS = 60_000


def commit_fault(
    group: ConsumerGroup, identity: MemberIdentity, *, is_transactional: bool
) -> ErrorCode | None:
    """Why these offsets may not be stored, if so; see `commits.commit_fault` of the others."""
    if identity.generation < 0 and not group.members:
        return None
    is_anonymous = identity.member_id == NO_MEMBER_ID and identity.instance_id is None
    if is_transactional and identity.generation == -1 and is_anonymous:
        return None
    member = group.members.get(identity.member_id)
    is_too_old = member is not None and member.classic is None and not identity.knows_epochs
    if is_too_old and not is_transactional:
        return ErrorCode.UNSUPPORTED_VERSION
    error = _member_fault(group, identity)
    if is_transactional and error is ErrorCode.STALE_MEMBER_EPOCH:
        return ErrorCode.ILLEGAL_GENERATION  # what producers know
    return error


def fetch_fault(group: ConsumerGroup, identity: MemberIdentity) -> ErrorCode | None:
    """Why this may not know the offsets, if so; tools send no member id."""
    if identity.member_id == NO_MEMBER_ID and identity.generation < 0:
        return None
    return _member_fault(group, identity)


def _member_fault(group: ConsumerGroup, identity: MemberIdentity) -> ErrorCode | None:
    member = group.members.get(identity.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if identity.generation == member.epoch:
        return None
    is_classic = member.classic is not None
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH


def delete(
    group: ConsumerGroup, partitions: Iterable[TopicPartition]
) -> Decision[GroupsRecord, dict[TopicPartition, ErrorCode]]:
    """Delete offsets of topics that no member subscribes to (KIP-496)."""
    errors = {
        each: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        if group.is_subscribed(each.topic)
        else ErrorCode.NONE
        for each in partitions
    }
    removed = [each for each, error in errors.items() if error is ErrorCode.NONE]
    return Decision(errors, forget(group, removed))


def forget(group: ConsumerGroup, partitions: Iterable[TopicPartition]) -> list[GroupsRecord]:
    """Tombstones of these offsets, of those that there are."""
    committed = group.offsets.committed
    found = dict.fromkeys(each for each in partitions if each in committed)
    return [OffsetRecord(group.group_id, each, None) for each in found]


def forget_expired(
    group: ConsumerGroup, config: GroupConfig, *, wall_ms: int
) -> list[GroupsRecord]:
    """Tombstones of what was kept long enough; a group without members ends with its offsets."""
    until_ms = wall_ms - config.offsets_retention_minutes * _MINUTE_MS
    expired = group.offsets.expired(
        wall_ms, until_ms=until_ms, base_timestamp=None, subscribed=group.subscribed
    )
    records = forget(group, list(expired))
    is_over = not group.members and not group.offsets.open
    if is_over and len(records) == len(group.offsets.committed):
        records += group.tombstones()
    return records
