"""Storing, asking for and forgetting a group's offsets."""

from collections.abc import Iterable, Mapping

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision
from moldau.coordinator.group.consumer import commits as consumer_commits
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.messages import NO_MEMBER_ID, Committed, FetchedOffset, MemberIdentity
from moldau.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.group.subscription import CONSUMER
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

AnyGroup = Group | ConsumerGroup
Errors = dict[TopicPartition, ErrorCode]

# Half of what calling a class of named tuples takes: it is called for every offset.
_new = tuple.__new__
_MINUTE_MS = 60_000


def commit_fault(
    group: AnyGroup, identity: MemberIdentity, *, is_transactional: bool
) -> ErrorCode | None:
    """Why these offsets may not be stored, if so.

    Without a generation they come from a tool, or from a consumer that assigns itself: that
    is fine as long as the group has no members. Transactional producers of old clients say
    nothing about the group either.
    """
    if isinstance(group, ConsumerGroup):
        return consumer_commits.commit_fault(group, identity, is_transactional=is_transactional)
    if identity.generation < 0 and group.state is GroupState.EMPTY:
        return None
    is_anonymous = (
        identity.generation < 0
        and identity.member_id == NO_MEMBER_ID
        and identity.instance_id is None
    )
    if is_anonymous:
        return None if is_transactional else ErrorCode.UNKNOWN_MEMBER_ID
    error = group.fault_of(identity)
    if error is None and identity.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if error is None and group.state is GroupState.COMPLETING_REBALANCE and not is_transactional:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return error


def commit(
    group: AnyGroup, offsets: Mapping[TopicPartition, Committed], config: GroupConfig
) -> Decision[GroupsRecord, Errors]:
    """Store offsets, except those that come with too much text."""
    errors: Errors = {}
    records: list[GroupsRecord] = []
    size_max = config.offset_metadata_max_bytes
    group_id, no_error = group.group_id, ErrorCode.NONE
    for partition, committed in offsets.items():
        metadata = committed.metadata
        if metadata and _utf_16_length(metadata) > size_max:
            errors[partition] = ErrorCode.OFFSET_METADATA_TOO_LARGE
        else:
            errors[partition] = no_error
            records.append(_new(OffsetRecord, (group_id, partition, committed)))
    return Decision(errors, records)


def fetch_fault(group: AnyGroup | None, identity: MemberIdentity) -> ErrorCode | None:
    """Why this may not know the offsets, if so; only the consumer protocol checks the member."""
    if isinstance(group, ConsumerGroup):
        return consumer_commits.fetch_fault(group, identity)
    return None


def fetch(
    group: AnyGroup | None,
    partitions: Iterable[TopicPartition] | None,
    *,
    require_stable: bool,
) -> dict[TopicPartition, FetchedOffset]:
    """The offsets of some partitions, or of all that have one (None)."""
    if group is None:
        return {partition: FetchedOffset() for partition in partitions or ()}
    offsets = group.offsets
    fetched = {}
    for partition in list(offsets.committed) if partitions is None else partitions:
        stored = offsets.committed.get(partition)
        if require_stable and offsets.is_unstable(partition):
            fetched[partition] = FetchedOffset(ErrorCode.UNSTABLE_OFFSET_COMMIT)
        elif stored is None:
            fetched[partition] = FetchedOffset()
        else:
            fetched[partition] = FetchedOffset(
                ErrorCode.NONE, stored.offset, stored.leader_epoch, stored.metadata
            )
    return fetched


def delete(group: AnyGroup, partitions: Iterable[TopicPartition]) -> Decision[GroupsRecord, Errors]:
    """Forget offsets that no member reads on from (KIP-496)."""
    if isinstance(group, ConsumerGroup):
        return consumer_commits.delete(group, partitions)
    if group.state is not GroupState.EMPTY and group.protocol_type != CONSUMER:
        raise KafkaError(ErrorCode.NON_EMPTY_GROUP)
    errors: Errors = {}
    for partition in partitions:
        is_used = group.state is not GroupState.EMPTY and group.is_subscribed(partition.topic)
        errors[partition] = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_used else ErrorCode.NONE
    removed = [each for each, error in errors.items() if error is ErrorCode.NONE]
    return Decision(errors, forget(group, removed))


def forget(group: AnyGroup, partitions: Iterable[TopicPartition]) -> list[GroupsRecord]:
    """Tombstones of these offsets, and of the group if then nothing is left of it."""
    if isinstance(group, ConsumerGroup):
        return consumer_commits.forget(group, partitions)
    committed = group.offsets.committed
    removed = dict.fromkeys(each for each in partitions if each in committed)
    records: list[GroupsRecord] = [OffsetRecord(group.group_id, each, None) for each in removed]
    is_over = (
        group.state is GroupState.EMPTY
        and not group.offsets.open
        and len(removed) == len(committed)
    )
    if is_over and group.generation > 0:
        records.append(GroupRecord(group.group_id, None))
    return records


def forget_expired(group: AnyGroup, config: GroupConfig, *, wall_ms: int) -> list[GroupsRecord]:
    """Tombstones of the offsets that have been kept long enough (KIP-211)."""
    if isinstance(group, ConsumerGroup):
        return consumer_commits.forget_expired(group, config, wall_ms=wall_ms)
    retention_ms = config.offsets_retention_minutes * _MINUTE_MS
    base_timestamp: int | None = None
    subscribed: Iterable[str] = ()
    if group.protocol_type is not None and group.state is GroupState.EMPTY:
        if group.state_timestamp != -1:
            base_timestamp = group.state_timestamp
    elif group.protocol_type is not None:
        # Offsets of a topic are kept while a member consumes it.
        if group.state is not GroupState.STABLE or group.protocol_type != CONSUMER:
            return []
        if group.subscribed is None:
            return []
        subscribed = group.subscribed
    until_ms = wall_ms - retention_ms
    expired = group.offsets.expired(
        wall_ms, until_ms=until_ms, base_timestamp=base_timestamp, subscribed=subscribed
    )
    return forget(group, list(expired))


def _utf_16_length(text: str) -> int:
    """The setting says bytes, but Kafka compares it with the length of a Java string."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
