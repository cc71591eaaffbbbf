"""Changing the protocol of a group while its members go on.

A classic group of consumers becomes one of the consumer protocol when its first member of
that protocol joins, and back when its last one leaves; in between, the group serves members
of both. `group.consumer.migration.policy` says which way is allowed. A group without members
can always change.
"""

from collections.abc import Collection, Iterable

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.attendance import Surroundings
from moldau.coordinator.group.consumer import classic_protocol
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ClassicMember, ConsumerMember
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    EpochRecord,
    MemberRecord,
    TargetEpochRecord,
    TargetRecord,
)
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.records import GroupRecord, GroupsRecord
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.group.subscription import CONSUMER
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage

_UPGRADING = ("upgrade", "bidirectional")
_DOWNGRADING = ("downgrade", "bidirectional")


def change(group: Group, successor: ConsumerGroup, around: Surroundings) -> list[GroupsRecord]:
    """Let a group succeed a classic one; returns the records of that, or raises.

    What has no members is just deleted; its offsets are not part of this.
    """
    records: list[GroupsRecord] = []
    if group.generation > 0:
        records.append(GroupRecord(group.group_id, None))
    if group.state is not GroupState.EMPTY:
        if not may_upgrade(group, around.config):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        for record in _upgraded_or_refused(group, around.image()):
            successor.apply(record)
            records.append(record)
    return records


def _upgraded_or_refused(group: Group, image: ClusterImage) -> list[ConsumerRecord]:
    try:
        return upgraded(group, image)
    except KafkaError as error:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, str(error)) from error


def may_upgrade(group: Group, config: GroupConfig) -> bool:
    """Whether a classic group may go on in the consumer protocol."""
    return (
        config.group_consumer_migration_policy.lower() in _UPGRADING
        and group.protocol_type == CONSUMER
        and len(group.members) <= config.group_consumer_max_size
    )


def upgraded(group: Group, image: ClusterImage) -> list[ConsumerRecord]:
    """The records of the same group in the consumer protocol; raises if they cannot be made.

    Every member keeps what it has. The group's generation becomes its epoch.
    """
    group_id, epoch = group.group_id, group.generation
    members = [_converted(each, group, image) for each in group.members.values()]
    return [
        *(MemberRecord(group_id, each.member_id, each) for each in members),
        EpochRecord(group_id, epoch),
        *(TargetRecord(group_id, each.member_id, each.assigned) for each in members),
        TargetEpochRecord(group_id, epoch),
        *(CurrentRecord(group_id, each.member_id, each) for each in members),
    ]


def _converted(member: Member, group: Group, image: ClusterImage) -> ConsumerMember:
    name = group.protocol_name or member.protocols[0][0]
    subscription = classic_protocol.read_subscription(member.metadata(name))
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topic_names=classic_protocol.topic_names(subscription),
        classic=ClassicMember(member.session_timeout_ms, member.protocols),
        epoch=group.generation,
        previous_epoch=group.generation,
        assigned=classic_protocol.read_assignment(member.assignment, image),
    )


def may_downgrade(
    group: ConsumerGroup, staying: Collection[ConsumerMember], config: GroupConfig
) -> bool:
    """Whether a group goes on in the classic protocol, when these are all that it has then."""
    return (
        config.group_consumer_migration_policy.lower() in _DOWNGRADING
        and any(each.classic is None for each in group.members.values())
        and 0 < len(staying) <= config.group_max_size
        and all(each.classic is not None for each in staying)
    )


def downgraded(
    group: ConsumerGroup, staying: Iterable[ConsumerMember], image: ClusterImage
) -> list[GroupsRecord]:
    """The records of the same group in the classic protocol, with the members that stay.

    The group's epoch becomes its generation; then every member has to join again.
    """
    classic = Group(group.group_id, wall_ms=0)
    classic.generation = group.epoch
    assignments: dict[str, bytes] = {}
    for each in staying:
        assert each.classic is not None
        member = Member(
            member_id=each.member_id,
            instance_id=each.instance_id,
            client_id=each.client_id,
            client_host=each.client_host,
            session_timeout_ms=each.classic.session_timeout_ms,
            rebalance_timeout_ms=each.rebalance_timeout_ms,
            protocols=each.classic.protocols,
        )
        classic.add(member, CONSUMER)
        assignments[each.member_id] = classic_protocol.write_assignment(each, image)
    classic.protocol_name = classic.select_protocol()
    return [*group.tombstones(), GroupRecord(group.group_id, classic.stored(assignments))]
