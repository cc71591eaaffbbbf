"""Members, joins and groups to begin with."""

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, PendingReply, Reply
from moldau.coordinator.group.attendance import Surroundings
from moldau.coordinator.group.group import Group
from moldau.coordinator.group.machine import GroupMachine
from moldau.coordinator.group.member import Member
from moldau.coordinator.group.messages import GroupJoin, JoinReply, MemberIdentity, Sync
from moldau.coordinator.group.records import GroupRecord, GroupsRecord
from moldau.coordinator.timers import Timers
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.versioned import encode_versioned
from moldau.runtime.clock import Moment

NOW = Moment(1000, 5000)


def subscription(*topics: str, version: int = 1) -> bytes:
    return encode_versioned(ConsumerProtocolSubscription(topics=list(topics)), version)


def member(member_id: str, *names: str, instance_id: str | None = None) -> Member:
    return Member(
        member_id=member_id,
        instance_id=instance_id,
        client_id="client",
        client_host="/10.0.0.1",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        protocols=tuple((name, subscription("t")) for name in names or ("range",)),
    )


def group_of(*members: Member) -> Group:
    group = Group("g", wall_ms=0)
    for each in members:
        each.join = PendingReply()
        group.add(each, "consumer")
    return group


def joining(name: str, member_id: str = "", instance_id: str | None = None) -> GroupJoin:
    return GroupJoin(
        member_id=member_id,
        instance_id=instance_id,
        new_member_id=name,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        protocol_type="consumer",
        protocols=(("range", subscription("t")),),
    )


def surroundings(**settings: int) -> Surroundings:
    config = GroupConfig(group_initial_rebalance_delay_ms=0, **settings)  # type: ignore[arg-type]
    return Surroundings(config, Timers(), [])


def stable_machine(around: Surroundings) -> GroupMachine:
    """A group with the one member `a`, which has its assignment."""
    machine = GroupMachine(Group("g", wall_ms=0), around)
    machine.join(joining("a"), now=NOW)
    for key in around.timers.take_due(now_ms=NOW.monotonic_ms):
        machine.expire(key, now=NOW)
    decision = machine.sync(Sync(MemberIdentity("a", 1), assignments={"a": b"all"}), now=NOW)
    store(machine, decision)
    around.answered.clear()
    return machine


def store(machine: GroupMachine, decision: Decision[GroupsRecord, Reply]) -> None:
    """Apply a decision about the group itself, as if it had been appended."""
    for record in decision.records:
        assert isinstance(record, GroupRecord)
        assert record.value is not None
        machine.rebalance.apply(record.value, now=NOW)


def reply_of(answer: JoinReply | PendingReply[JoinReply]) -> JoinReply:
    assert isinstance(answer, JoinReply)
    return answer
