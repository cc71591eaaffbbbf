"""Members of the classic protocol among others."""

from dataclasses import replace

import pytest

from moldau.coordinator.group.attendance import TimerKey
from moldau.coordinator.group.consumer.classic_members import ClassicMembers
from moldau.coordinator.group.consumer.classic_protocol import read_assignment
from moldau.coordinator.group.messages import GroupJoin, JoinReply, MemberIdentity, Sync
from moldau.coordinator.group.records import GroupRecord
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.versioned import encode_versioned
from moldau.runtime.clock import Moment
from unit.coordinator.group.consumer.samples import (
    NOW,
    T,
    World,
    beating,
    joining,
    subscription,
)

RANGE = (("range", subscription("t")),)


def join(
    member_id: str = "",
    new_member_id: str = "c",
    owned: list[int] | None = None,
    instance_id: str | None = None,
) -> GroupJoin:
    has = None if owned is None else {"t": owned}
    return GroupJoin(
        member_id=member_id,
        new_member_id=new_member_id,
        instance_id=instance_id,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        protocol_type="consumer",
        protocols=(("range", subscription("t", owned=has)),),
    )


class Mixed(World):
    """A group that has the consumer `a`, which has all four partitions in epoch 1."""

    def __init__(self, **settings: object) -> None:
        super().__init__(None, **settings)
        self.beat(joining("a"))

    @property
    def classic(self) -> ClassicMembers:
        return ClassicMembers(self.machine, self.image)

    def join(self, request: GroupJoin) -> JoinReply:
        return self.write(self.classic.join(request, now=NOW))

    def assigned(self, member_id: str, generation: int) -> object:
        reply = self.classic.sync(Sync(MemberIdentity(member_id, generation)), now=NOW)
        return read_assignment(reply.assignment, self.image)

    def heartbeat(self, member_id: str, generation: int) -> ErrorCode:
        return self.classic.heartbeat(MemberIdentity(member_id, generation), now=NOW)


def error_of(call: object) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        call()  # type: ignore[operator]
    return caught.value.code


def test_a_classic_member_takes_its_share_step_by_step() -> None:
    world = Mixed()
    reply = world.join(join())
    assert reply == JoinReply(ErrorCode.NONE, "c", 2, "consumer", "range")
    assert world.assigned("c", 2) == {}
    assert world.heartbeat("c", 2) is ErrorCode.NONE, "the others still have its partitions"
    world.beat(beating("a", 1, {T: (0, 1, 2, 3)}))
    world.beat(beating("a", 1, {T: (0, 1)}))
    assert world.heartbeat("c", 2) is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.join(join("c")).generation == 2
    assert world.assigned("c", 2) == {T: (2, 3)}
    assert world.heartbeat("c", 2) is ErrorCode.NONE


def test_a_classic_member_gives_up_partitions_by_joining_again() -> None:
    world = Mixed()
    world.join(join())
    world.beat(beating("a", -1))
    assert world.heartbeat("c", 2) is ErrorCode.REBALANCE_IN_PROGRESS
    error = error_of(lambda: world.assigned("c", 2))
    assert error is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.join(join("c")).generation == 3
    assert world.assigned("c", 3) == {T: (0, 1, 2, 3)}
    world.beat(joining("b"))
    assert world.join(join("c", owned=[0, 1, 2, 3])).generation == 3
    assert world.assigned("c", 3) == {T: (0, 1)}
    assert world.heartbeat("c", 3) is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.join(join("c", owned=[0, 1])).generation == 4
    assert world.beat(beating("b", 4)).assignment == {T: (2, 3)}


def test_newcomers_are_told_their_id_first() -> None:
    world = Mixed()
    reply = world.join(replace(join(), must_know_id=True))
    assert reply == JoinReply(ErrorCode.MEMBER_ID_REQUIRED, "c")
    assert world.join(replace(join("c"), must_know_id=True)).error is ErrorCode.NONE


def test_a_static_member_may_come_back_without_its_id() -> None:
    world = Mixed()
    world.join(join(instance_id="one"))
    reply = world.join(join(new_member_id="d", instance_id="one"))
    assert (reply.member_id, reply.generation) == ("d", 2)
    fenced = join("c", instance_id="one")
    assert error_of(lambda: world.join(fenced)) is ErrorCode.FENCED_INSTANCE_ID
    old = MemberIdentity("c", 2, "one")
    error = error_of(lambda: world.classic.heartbeat(old, now=NOW))
    assert error is ErrorCode.FENCED_INSTANCE_ID
    unknown = join("c", instance_id="two")
    assert error_of(lambda: world.join(unknown)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_all_classic_members_need_a_protocol_in_common() -> None:
    world = Mixed()
    world.join(join())
    other = replace(join(new_member_id="d"), protocols=(("sticky", subscription("t")),))
    refused = [other, replace(join(), protocol_type="connect"), replace(join(), protocols=())]
    for request in refused:
        error = error_of(lambda request=request: world.join(request))
        assert error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.join(replace(other, member_id="c")).error is ErrorCode.NONE


def test_there_must_be_room() -> None:
    world = Mixed(group_consumer_max_size=1)
    assert error_of(lambda: world.join(join())) is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_syncs_and_heartbeats_are_of_the_member_and_its_generation() -> None:
    world = Mixed()
    world.join(join())
    assert error_of(lambda: world.heartbeat("x", 2)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(lambda: world.heartbeat("a", 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(lambda: world.heartbeat("c", 1)) is ErrorCode.ILLEGAL_GENERATION
    for sync in (
        Sync(MemberIdentity("c", 2), "connect"),
        Sync(MemberIdentity("c", 2), "consumer", "sticky"),
    ):
        error = error_of(lambda sync=sync: world.classic.sync(sync, now=NOW))
        assert error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_member_that_does_not_say_its_rack_is_where_it_was() -> None:
    world = Mixed()
    said = ConsumerProtocolSubscription(topics=["t"], rack_id="r")
    protocols = (("range", encode_versioned(said, 3)),)
    world.join(replace(join(), protocols=protocols))
    world.join(join("c"))
    assert world.group.members["c"].rack_id == "r"


def test_who_syncs_too_late_has_to_join_in_time() -> None:
    world = Mixed()
    timers, rebalance = world.around.timers, TimerKey("g", "c", is_rebalance=True)
    world.join(join())
    world.assigned("c", 2)
    world.beat(beating("a", -1))
    assert error_of(lambda: world.assigned("c", 2)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert timers.deadline_ms(rebalance) == NOW.monotonic_ms + 20_000


def test_a_sync_is_a_sign_of_life() -> None:
    world = Mixed()
    world.join(join())
    later = Moment(NOW.monotonic_ms + 5_000, NOW.wall_ms + 5_000)
    world.classic.sync(Sync(MemberIdentity("c", 2)), now=later)
    deadline_ms = world.around.timers.deadline_ms(TimerKey("g", "c"))
    assert deadline_ms == later.monotonic_ms + 10_000


def test_who_joins_has_to_sync_and_who_is_told_has_to_join() -> None:
    world = Mixed()
    timers, rebalance = world.around.timers, TimerKey("g", "c", is_rebalance=True)
    world.join(join())
    assert timers.deadline_ms(rebalance) == NOW.monotonic_ms + 20_000
    world.assigned("c", 2)
    assert timers.deadline_ms(rebalance) is None
    assert timers.deadline_ms(TimerKey("g", "c")) == NOW.monotonic_ms + 10_000
    world.beat(beating("a", -1))
    world.heartbeat("c", 2)
    assert timers.deadline_ms(rebalance) == NOW.monotonic_ms + 20_000


def test_members_leave_and_static_ones_are_sent_away() -> None:
    world = Mixed()
    world.join(join())
    world.join(join(new_member_id="s", instance_id="one"))
    world.join(join(new_member_id="t", instance_id="two"))
    leaving = [
        MemberIdentity("c"),
        MemberIdentity("a"),
        MemberIdentity("x"),
        MemberIdentity(instance_id="one"),
        MemberIdentity(instance_id="no"),
        MemberIdentity("s", instance_id="two"),
    ]
    decision = world.classic.leave(leaving, now=NOW)
    assert decision.reply == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
    ]
    epoch = world.group.epoch
    world.write(decision)
    assert list(world.group.members) == ["a", "t"]
    assert world.group.epoch == epoch + 1
    assert not world.classic.leave([MemberIdentity("x")], now=NOW).records


def test_the_last_consumer_may_come_back_as_a_classic_member() -> None:
    world = Mixed(group_consumer_migration_policy="bidirectional")
    world.beat(beating("a", -1))
    world.beat(joining("s", instance_id="one"))
    decision = world.classic.join(join(new_member_id="t", instance_id="one"), now=NOW)
    assert decision.reply.member_id == "t"
    assert isinstance(decision.records[-1], GroupRecord)
