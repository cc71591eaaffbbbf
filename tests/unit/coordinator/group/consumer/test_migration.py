"""Groups that change their protocol."""

from dataclasses import replace

import pytest

from moldau.coordinator.group.consumer import classic_protocol
from moldau.coordinator.group.consumer.group import ConsumerGroup
from moldau.coordinator.group.consumer.member import ClassicMember, ConsumerMember
from moldau.coordinator.group.consumer.migration import (
    change,
    downgraded,
    may_downgrade,
    may_upgrade,
)
from moldau.coordinator.group.consumer.records import CurrentRecord, EpochRecord, MemberRecord
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.offsets import Offsets
from moldau.coordinator.group.records import GroupRecord
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode, KafkaError
from unit.coordinator.group.consumer.samples import T, World, classic, image, subscription


def classic_group(protocol_type: str = "consumer") -> Group:
    """A stable group with the member `a`, which has partitions 0 and 1."""
    group = Group("g", wall_ms=0)
    member = Member(
        member_id="a",
        instance_id="one",
        client_id="c",
        client_host="/h",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        protocols=(("range", subscription("t")),),
    )
    group.add(member, protocol_type)
    group.begin_generation(wall_ms=0)
    group.state = GroupState.STABLE
    has = classic("a", assigned={T: (0, 1)})
    member.assignment = classic_protocol.write_assignment(has, image(t=2))
    return group


def world(policy: str, **settings: object) -> World:
    return World(image(t=2), group_consumer_migration_policy=policy, **settings)


def consumer_group(*members: ConsumerMember) -> ConsumerGroup:
    group = ConsumerGroup("g", Offsets())
    group.apply(EpochRecord("g", 7))
    for member in members:
        group.apply(MemberRecord("g", member.member_id, member))
        group.apply(CurrentRecord("g", member.member_id, member))
    return group


def test_members_keep_what_they_have_when_a_group_is_upgraded() -> None:
    successor = ConsumerGroup("g", Offsets())
    records = change(classic_group(), successor, world("UPGRADE").around)
    assert records[0] == GroupRecord("g", None)
    assert (successor.epoch, successor.assignment_epoch) == (1, 1)
    assert successor.target("a") == {T: (0, 1)}
    assert successor.members["a"] == ConsumerMember(
        member_id="a",
        instance_id="one",
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=20_000,
        topic_names=("t",),
        classic=ClassicMember(10_000, (("range", subscription("t")),)),
        epoch=1,
        previous_epoch=1,
        assigned={T: (0, 1)},
    )


def test_members_subscribe_to_what_they_say_under_the_groups_protocol() -> None:
    group = classic_group()
    group.protocol_name = "range"
    group.members["a"].protocols = (("sticky", subscription("u")), *group.members["a"].protocols)
    successor = ConsumerGroup("g", Offsets())
    change(group, successor, world("upgrade").around)
    assert successor.members["a"].topic_names == ("t",)


def test_what_was_never_stored_needs_no_tombstone() -> None:
    group = classic_group()
    group.generation = 0
    group.protocol_name = None
    records = change(group, ConsumerGroup("g", Offsets()), world("bidirectional").around)
    assert GroupRecord("g", None) not in records


def test_a_group_without_members_is_just_deleted() -> None:
    group = classic_group()
    group.remove("a")
    group.state = GroupState.EMPTY
    around = world("disabled").around
    assert change(group, ConsumerGroup("g", Offsets()), around) == [GroupRecord("g", None)]


@pytest.mark.parametrize(
    ("policy", "protocol_type", "size_max", "is_allowed"),
    [
        ("upgrade", "consumer", 1, True),
        ("Bidirectional", "consumer", 1, True),
        ("downgrade", "consumer", 1, False),
        ("disabled", "consumer", 1, False),
        ("upgrade", "connect", 1, False),
        ("upgrade", "consumer", 0, False),
    ],
)
def test_upgrades_have_conditions(
    policy: str, protocol_type: str, size_max: int, is_allowed: bool
) -> None:
    around = world(policy, group_consumer_max_size=size_max).around
    group = classic_group(protocol_type)
    assert may_upgrade(group, around.config) is is_allowed
    if not is_allowed:
        with pytest.raises(KafkaError) as caught:
            change(group, ConsumerGroup("g", Offsets()), around)
        assert caught.value.code is ErrorCode.GROUP_ID_NOT_FOUND


NEW = ConsumerMember(member_id="new")
OLD = classic("old")


@pytest.mark.parametrize(
    ("policy", "members", "staying", "is_allowed"),
    [
        ("downgrade", [NEW, OLD], [OLD], True),
        ("bidirectional", [NEW, OLD], [OLD], True),
        ("upgrade", [NEW, OLD], [OLD], False),
        ("downgrade", [NEW, OLD], [NEW], False),
        ("downgrade", [NEW], [], False),
        ("downgrade", [NEW, OLD], [NEW, OLD], False),
        ("downgrade", [OLD, replace(OLD, member_id="other")], [OLD], False),
    ],
)
def test_downgrades_have_conditions(
    policy: str, members: list[ConsumerMember], staying: list[ConsumerMember], is_allowed: bool
) -> None:
    config = world(policy).around.config
    assert may_downgrade(consumer_group(*members), staying, config) is is_allowed


def test_who_stays_keeps_what_it_has_when_a_group_is_downgraded() -> None:
    stays = classic("old", epoch=6, assigned={T: (1,)})
    group = consumer_group(NEW, stays)
    *tombstones, record = downgraded(group, [stays], image(t=2))
    assert tombstones == group.tombstones()
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    value = record.value
    assert (value.generation, value.protocol_type, value.protocol) == (7, "consumer", "range")
    (member,) = value.members
    assert (member.member_id, member.session_timeout) == ("old", 10_000)
    assert (member.rebalance_timeout, member.group_instance_id) == (20_000, None)
    assert bytes(member.subscription) == subscription("t")
    assert bytes(member.assignment) == classic_protocol.write_assignment(stays, image(t=2))


def test_a_group_whose_members_say_something_else_stays_as_it_is() -> None:
    group = classic_group()
    group.members["a"].assignment = b"\0\1\xff"
    with pytest.raises(KafkaError) as caught:
        change(group, ConsumerGroup("g", Offsets()), world("upgrade").around)
    assert caught.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_classic_group_has_room_for_so_many() -> None:
    for size_max, is_allowed in ((2, True), (1, False)):
        config = world("downgrade", group_max_size=size_max).around.config
        staying = [OLD, replace(OLD, member_id="other")]
        assert may_downgrade(consumer_group(NEW, *staying), staying, config) is is_allowed
