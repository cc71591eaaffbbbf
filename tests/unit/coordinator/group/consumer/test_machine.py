"""One group, moved by heartbeats."""

from dataclasses import replace

import pytest

from moldau.coordinator.decision import Decision
from moldau.coordinator.group.attendance import TimerKey
from moldau.coordinator.group.consumer.machine import (
    ConsumerMachine,
    check_heartbeat,
    pattern_of,
)
from moldau.coordinator.group.consumer.member import LEFT, LEFT_FOR_A_WHILE, MemberState
from moldau.coordinator.group.consumer.messages import Heartbeat, HeartbeatReply
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    EpochRecord,
    MemberRecord,
    TargetEpochRecord,
    TargetRecord,
    TopicsRecord,
)
from moldau.coordinator.group.records import GroupRecord
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage
from moldau.runtime.clock import Moment
from unit.coordinator.group.consumer.samples import (
    NOW,
    T,
    U,
    World,
    beating,
    classic,
    image,
    joining,
)

LATER = Moment(NOW.monotonic_ms + 60_000, 60_000)


def error_of(world: World, heartbeat: Heartbeat) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        world.machine.heartbeat(heartbeat, now=NOW)
    return caught.value.code


def kinds(records: object) -> list[type[ConsumerRecord]]:
    return [type(record) for record in records]  # type: ignore[attr-defined]


def two_members() -> World:
    """`a` and `b` have two partitions each, in epoch 2."""
    world = World()
    world.beat(joining("a"))
    world.beat(joining("b"))
    world.beat(beating("a", 1, {T: (0, 1, 2, 3)}))
    world.beat(beating("a", 1, {T: (0, 1)}))
    world.beat(beating("b", 2))
    assert world.machine.describe().state == "Stable"
    return world


def test_the_first_member_gets_everything_at_once() -> None:
    world = World()
    decision = world.machine.heartbeat(joining("a"), now=NOW)
    assert kinds(decision.records) == [
        MemberRecord,
        TopicsRecord,
        EpochRecord,
        TargetRecord,
        TargetEpochRecord,
        CurrentRecord,
    ]
    assert decision.reply == HeartbeatReply("a", 1, 5000, {T: (0, 1, 2, 3)})
    assert world.group.members == {}, "nothing is so before it is written"


def test_heartbeats_that_bring_nothing_new_write_nothing() -> None:
    world = World()
    world.beat(joining("a"))
    for _ in range(2):
        decision = world.machine.heartbeat(beating("a", 1), now=NOW)
        assert not decision.records
        assert decision.reply == HeartbeatReply("a", 1, 5000, None)


def test_a_member_without_id_gets_one() -> None:
    world = World()
    reply = world.beat(replace(joining(""), new_member_id="made"))
    assert (reply.member_id, list(world.group.members)) == ("made", ["made"])


def test_a_partition_moves_when_it_has_been_given_up() -> None:
    world = World()
    world.beat(joining("a"))
    assert world.beat(joining("b")) == HeartbeatReply("b", 2, 5000, {})
    told = world.beat(beating("a", 1, {T: (0, 1, 2, 3)}))
    assert (told.epoch, told.assignment) == (1, {T: (0, 1)})
    assert world.beat(beating("b", 2)).assignment is None
    assert world.beat(beating("a", 1)).assignment is None
    assert world.beat(beating("a", 1, {T: (0, 1)})) == HeartbeatReply("a", 2, 5000, None)
    assert world.beat(beating("b", 2)).assignment == {T: (2, 3)}


def test_a_full_heartbeat_is_answered_in_full() -> None:
    world = two_members()
    full = replace(joining("a"), epoch=2, owned={T: (0, 1)})
    assert world.beat(full).assignment == {T: (0, 1)}


def test_a_topic_that_grows_or_comes_is_shared() -> None:
    world = World(image(t=1))
    world.beat(joining("a", "t", "u"))
    world.image = image(t=2, u=1)
    assert world.beat(beating("a", 1)) == HeartbeatReply("a", 2, 5000, {T: (0, 1), U: (0,)})
    world.image = image(t=2)
    told = world.beat(beating("a", 2, {T: (0, 1), U: (0,)}))
    assert (told.epoch, told.assignment) == (2, {T: (0, 1)})
    assert world.beat(beating("a", 2, {T: (0, 1)})).epoch == 3


def test_a_change_that_was_not_written_is_found_again() -> None:
    world = World(image(t=1))
    world.beat(joining("a"))
    world.beat(beating("a", 1))
    world.image = image(t=2)
    lost = world.machine.heartbeat(beating("a", 1), now=NOW)
    assert lost.records
    assert world.beat(beating("a", 1)).assignment == {T: (0, 1)}


def test_nobody_loses_anything_while_the_cluster_is_not_known() -> None:
    world = two_members()
    world.image = ClusterImage()
    assert error_of(world, beating("a", 2)) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.image = image(t=4)
    assert world.beat(beating("a", 2)).assignment is None


def test_a_subscription_that_changes_moves_the_epoch() -> None:
    world = World(image(t=1, u=1))
    world.beat(joining("a"))
    told = world.beat(replace(beating("a", 1, {T: (0,)}, topics=("u",)), rack_id="r"))
    assert (told.epoch, told.assignment) == (1, {})
    assert world.beat(beating("a", 1, {})).assignment == {U: (0,)}
    assert world.group.members["a"].rack_id == "r"


def test_only_members_in_their_epoch_are_heard() -> None:
    world = two_members()
    assert error_of(world, beating("x", 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(world, beating("a", 3)) is ErrorCode.FENCED_MEMBER_EPOCH
    assert error_of(world, beating("b", 1)) is ErrorCode.FENCED_MEMBER_EPOCH
    assert error_of(world, joining("b")) is ErrorCode.FENCED_MEMBER_EPOCH


def test_who_missed_the_last_answer_may_be_one_epoch_behind() -> None:
    world = two_members()
    assert error_of(world, beating("a", 1)) is ErrorCode.FENCED_MEMBER_EPOCH
    assert error_of(world, beating("a", 1, {T: (3,)})) is ErrorCode.FENCED_MEMBER_EPOCH
    assert world.beat(beating("a", 1, {T: (0,)})).epoch == 2


def test_a_group_has_room_for_so_many() -> None:
    world = World(group_consumer_max_size=1)
    world.beat(joining("a"))
    assert error_of(world, joining("b")) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.beat(beating("a", 1)).epoch == 1


def test_what_a_member_leaves_goes_to_others() -> None:
    world = two_members()
    assert world.beat(beating("a", LEFT)) == HeartbeatReply("a", LEFT)
    assert list(world.group.members) == ["b"]
    assert world.machine.describe().state == "Assigning"
    assert world.beat(beating("b", 2)).assignment == {T: (0, 1, 2, 3)}
    assert error_of(world, beating("a", LEFT)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_partitions_wait_for_a_static_member() -> None:
    world = World()
    world.beat(joining("a", instance_id="one"))
    assert error_of(world, joining("a2", instance_id="one")) is ErrorCode.UNRELEASED_INSTANCE_ID
    world.beat(beating("a", LEFT_FOR_A_WHILE, instance_id="one"))
    assert world.group.members["a"].epoch == LEFT_FOR_A_WHILE
    told = world.beat(joining("a2", instance_id="one"))
    assert told == HeartbeatReply("a2", 1, 5000, {T: (0, 1, 2, 3)})
    assert list(world.group.members) == ["a2"]
    old = beating("a", 1, instance_id="one")
    assert error_of(world, old) is ErrorCode.FENCED_INSTANCE_ID
    assert error_of(world, replace(old, epoch=LEFT)) is ErrorCode.FENCED_INSTANCE_ID
    unknown = beating("a", 1, instance_id="two")
    assert error_of(world, unknown) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.beat(beating("a2", 1, instance_id="one")).epoch == 1
    world.beat(beating("a2", LEFT, instance_id="one"))
    assert world.group.static_ids == {}


def test_who_is_not_heard_of_is_removed() -> None:
    world = two_members()
    world.beat(beating("a", 2), now=LATER)
    due = world.around.timers.take_due(now_ms=LATER.monotonic_ms)
    assert due == [TimerKey("g", "b")]
    world.write(world.machine.expire(due[0], now=LATER))
    assert list(world.group.members) == ["a"]
    assert not world.machine.expire(due[0], now=LATER).records


def test_who_does_not_give_up_partitions_in_time_is_removed() -> None:
    world = World()
    world.beat(joining("a"))
    world.beat(joining("b"))
    world.beat(beating("a", 1))
    assert world.group.members["a"].state is MemberState.UNREVOKED
    rebalance = TimerKey("g", "a", is_rebalance=True)
    assert world.around.timers.deadline_ms(rebalance) == NOW.monotonic_ms + 20_000
    world.beat(beating("a", 1), now=LATER)
    assert world.around.timers.deadline_ms(rebalance) == NOW.monotonic_ms + 20_000
    world.beat(beating("a", 1, {T: (0, 1)}))
    assert world.around.timers.deadline_ms(rebalance) is None


def test_loaded_members_have_their_timeouts_to_come_forward() -> None:
    world = World()
    world.beat(joining("a"))
    world.beat(joining("b"))
    world.beat(beating("a", 1))
    world.machine.forget_deadlines()
    assert len(world.around.timers) == 0
    world.machine.begin_sessions(now=LATER)
    assert len(world.around.timers) == 3, "two sessions, and a's partitions"


def test_every_member_has_a_session_from_its_record_on() -> None:
    world = World()
    records = world.machine.heartbeat(joining("a"), now=NOW).records
    world.machine.deadlines.forget("a")
    for record in records:
        assert isinstance(record, ConsumerRecord)
        world.machine.apply(record, now=NOW)
    assert world.around.timers.deadline_ms(TimerKey("g", "a")) is not None


def test_a_group_is_described() -> None:
    world = two_members()
    described = world.machine.describe()
    assert described[:4] == ("Stable", 2, 2, "uniform")
    assert [(each.member.member_id, each.target) for each in described.members] == [
        ("a", {T: (0, 1)}),
        ("b", {T: (2, 3)}),
    ]


def test_assignors_that_are_not_offered_are_refused() -> None:
    world = World(group_consumer_assignors=("range",))
    with pytest.raises(KafkaError) as caught:
        check_heartbeat(replace(joining("a"), assignor="uniform"), world.around)
    assert caught.value.code is ErrorCode.UNSUPPORTED_ASSIGNOR


def test_the_last_consumer_leaves_a_classic_group_behind() -> None:
    world = World(group_consumer_migration_policy="bidirectional")
    world.beat(joining("a"))
    old = classic("old")
    world.write(Decision(None, [MemberRecord("g", "old", old), CurrentRecord("g", "old", old)]))
    records = world.machine.heartbeat(beating("a", LEFT), now=NOW).records
    assert isinstance(records[-1], GroupRecord)
    assert records[-1].value is not None
    assert [member.member_id for member in records[-1].value.members] == ["old"]


def test_a_cluster_is_looked_at_once() -> None:
    world, asked = World(), []

    def resolve(text: str, _: ClusterImage) -> tuple[str, ...]:
        asked.append(text)
        return ("t",)

    world.machine = ConsumerMachine(world.group, world.around._replace(resolve=resolve))
    world.beat(joining("a", pattern="t"))
    world.beat(beating("a", 1))
    count = len(asked)
    world.beat(beating("a", 1))
    assert len(asked) == count
    world.image = image(t=4)
    world.beat(beating("a", 1))
    assert len(asked) == count + 1


def test_a_pattern_that_is_not_resolved_yet_is_asked_for_again() -> None:
    known: dict[str, tuple[str, ...]] = {}
    world = World()
    around = world.around._replace(resolve=lambda text, _: known.get(text))
    world.machine = ConsumerMachine(world.group, around)
    world.beat(joining("a", pattern="t"))
    assert world.beat(beating("a", 1)).assignment is None
    known["t"] = ("t",)
    reply = world.beat(beating("a", 1))
    assert (reply.epoch, reply.assignment) == (2, {T: (0, 1, 2, 3)})


def test_the_pattern_of_a_member_is_what_it_says_or_said() -> None:
    world = World()
    assert pattern_of(None, joining("a")) == ""
    assert pattern_of(None, joining("a", pattern="t")) == "t"
    world.beat(joining("a", pattern="t"))
    assert pattern_of(world.machine, beating("a", 1)) == "t"
    assert pattern_of(world.machine, joining("a", pattern="")) == ""
    assert pattern_of(world.machine, beating("x", 1)) == ""
    assert pattern_of(world.machine, beating("a", LEFT)) == ""


def test_what_a_member_does_not_say_is_as_before() -> None:
    world = World()
    said = replace(joining("a", instance_id="one"), rack_id="r", assignor="range")
    world.beat(said)
    before = world.group.members["a"]
    assert (before.rack_id, before.assignor, before.topic_names) == ("r", "range", ("t",))
    assert before.rebalance_timeout_ms == 20_000
    world.beat(beating("a", 1, instance_id="one"))
    assert world.group.members["a"] == before


def test_who_has_left_for_a_while_is_in_no_earlier_epoch() -> None:
    world = World()
    world.beat(joining("a", instance_id="one"))
    world.beat(joining("b"))
    world.beat(beating("a", 1, {T: (0, 1, 2, 3)}, instance_id="one"))
    world.beat(beating("a", 1, {T: (0, 1)}, instance_id="one"))
    world.beat(beating("a", LEFT_FOR_A_WHILE, instance_id="one"))
    assert world.group.members["a"].previous_epoch == 1
    late = beating("a", 1, {}, instance_id="one")
    assert error_of(world, late) is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_loaded_classic_member_has_no_time_for_its_partitions_until_it_is_told() -> None:
    world = World()
    has = classic("old", epoch=1, state=MemberState.UNREVOKED, revoking={T: (0,)})
    world.write(Decision(None, [MemberRecord("g", "old", has), CurrentRecord("g", "old", has)]))
    world.machine.begin_sessions(now=NOW)
    assert world.around.timers.deadline_ms(TimerKey("g", "old")) is not None
    assert world.around.timers.deadline_ms(TimerKey("g", "old", is_rebalance=True)) is None
