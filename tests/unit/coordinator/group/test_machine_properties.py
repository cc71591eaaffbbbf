"""What holds for a group whatever its members, the journal and the clock do."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.decision import Decision, PendingReply, Reply
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import (
    Committed,
    GroupJoin,
    JoinReply,
    MemberIdentity,
    Sync,
    SyncReply,
)
from moldau.coordinator.group.records import GroupsRecord
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.group_script import GROUP, ScriptClock
from scenarios.memory_journal import MemoryJournal

PARTITIONS = 6
MEMBERS = 4
TP = TopicPartition("t", 0)
CONFIG = GroupConfig(group_initial_rebalance_delay_ms=1000, group_max_size=3)


@dataclass
class Actor:
    """A member that does what comes to its mind; the last two are static."""

    index: int
    member_id: str = ""
    generation: int = -1
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Who it is, to others; a static member stays the same with another id."""
        return self.instance_id or self.member_id

    @property
    def instance_id(self) -> str | None:
        return f"static-{self.index}" if self.index >= MEMBERS - 2 else None


@dataclass
class Told:
    """A reply that may go out when the journal is committed up to an offset."""

    who: str
    reply: SyncReply
    generation: int
    end_offset: int


@dataclass
class World:
    """One group under every kind of trouble."""

    clock: ScriptClock = field(default_factory=ScriptClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    actors: list[Actor] = field(default_factory=lambda: [Actor(n) for n in range(MEMBERS)])
    joins: dict[PendingReply[JoinReply], Actor] = field(default_factory=dict)
    syncs: dict[PendingReply[SyncReply], tuple[str, int]] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    owners: dict[tuple[int, int], str] = field(default_factory=dict)
    last_generation: int = 0
    ids: int = 0
    commits: list[tuple[int, int]] = field(default_factory=list)
    acknowledged: int = -1
    next_offset: int = 0

    def __post_init__(self) -> None:
        self.shard = self._new_shard()

    def _new_shard(self) -> Shard[Groups]:
        return Shard(Groups(CONFIG), self.journal, ShardPorts(self.clock, Waiters(), 5.0))

    @property
    def now(self) -> Moment:
        return Moment(self.clock.time_ms, self.clock.time_ms)

    # What can happen

    def join(self, actor: Actor) -> None:
        self.ids += 1
        join = GroupJoin(
            member_id=actor.member_id,
            instance_id=actor.instance_id,
            new_member_id=f"id-{self.ids}",
            session_timeout_ms=6000 + 1000 * actor.index,
            rebalance_timeout_ms=10_000 * (1 + actor.index),
            protocol_type="consumer",
            protocols=(("range", b""), ("sticky", bytes([self.ids % 3]))),
            must_know_id=actor.index == 1,
            can_skip_assignment=actor.index == MEMBERS - 1,
        )
        decision = self.shard.machine.join(GROUP, join, now=self.now)
        if not self.write(decision):
            return
        if isinstance(decision.reply, PendingReply):
            self.joins[decision.reply] = actor
        else:
            self.note_join(actor, decision.reply)

    def note_join(self, actor: Actor, reply: JoinReply) -> None:
        if reply.error is ErrorCode.UNKNOWN_MEMBER_ID:
            actor.member_id = ""
        elif reply.error in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            actor.member_id = reply.member_id
            actor.generation = reply.generation
            actor.members = () if reply.skip_assignment else tuple(m[0] for m in reply.members)

    def sync(self, actor: Actor) -> None:
        assignments = {
            member: ",".join(
                str(n) for n in range(PARTITIONS) if n % len(actor.members) == index
            ).encode()
            for index, member in enumerate(actor.members)
        }
        identity = MemberIdentity(actor.member_id, actor.generation, actor.instance_id)
        decision = self.shard.machine.sync(
            GROUP, Sync(identity, assignments=assignments), now=self.now
        )
        if not self.write(decision):
            self.shard.machine.refuse_assignment(
                GROUP, ErrorCode.COORDINATOR_NOT_AVAILABLE, now=self.now
            )
        if isinstance(decision.reply, PendingReply):
            self.syncs[decision.reply] = (actor.name, actor.generation)
        else:
            self.note_sync(actor.name, actor.generation, decision.reply)

    def note_sync(self, who: str, generation: int, reply: SyncReply) -> None:
        self.told.append(Told(who, reply, generation, self.journal.end_offset))

    def heartbeat(self, actor: Actor) -> None:
        identity = MemberIdentity(actor.member_id, actor.generation, actor.instance_id)
        error = self.shard.machine.heartbeat(GROUP, identity, now=self.now)
        if error is ErrorCode.UNKNOWN_MEMBER_ID:
            actor.member_id = ""

    def leave(self, actor: Actor) -> None:
        leaving = [MemberIdentity(actor.member_id, instance_id=actor.instance_id)]
        self.write(self.shard.machine.leave(GROUP, leaving, now=self.now))
        actor.member_id = ""

    def restart(self, actor: Actor) -> None:
        """The process behind a member starts anew, without the old id."""
        actor.member_id = ""

    def commit(self, actor: Actor) -> None:
        self.next_offset += 1
        identity = MemberIdentity(actor.member_id, actor.generation, actor.instance_id)
        offsets = {TP: Committed(self.next_offset)}
        try:
            decision = self.shard.machine.commit(GROUP, identity, offsets, now=self.now)
        except KafkaError:
            return
        if self.write(decision):
            self.commits.append((self.next_offset, self.journal.end_offset))

    def wait(self, actor: Actor) -> None:
        self.advance((actor.index + 1) ** 2 * 700)

    def cooperate(self, _: Actor) -> None:
        """Everybody does what the protocol asks for."""
        for actor in self.actors:
            self.join(actor)
            self.settle()
        self.advance(2000)
        for actor in self.actors:
            self.sync(actor)
            self.settle()

    def toggle_speed(self, actor: Actor) -> None:
        self.journal.is_slow = not self.journal.is_slow
        if actor.index == 0:
            self.journal.commit()

    def toggle_failure(self, actor: Actor) -> None:
        failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        self.journal.failure = None if self.journal.failure or actor.index else failure

    def fail_over(self, actor: Actor) -> None:
        if actor.index:
            return  # not that often
        self.shard.close()
        self.settle()
        self.told = []
        self.journal.failure = None
        self.journal.lose_uncommitted()
        self.shard = self._new_shard()
        loading = Loading(self.journal, self.shard.machine, max_bytes=1)
        list(loading.replay(bytes(self.journal.data), now=self.now))
        self.shard.begin()
        self.commits = [each for each in self.commits if each[1] <= self.journal.end_offset]

    # What follows from it

    def write(self, decision: Decision[GroupsRecord, Reply]) -> bool:
        try:
            self.shard.write(decision)
        except KafkaError:
            return False
        return True

    def advance(self, duration_ms: int) -> None:
        until_ms = self.clock.time_ms + duration_ms
        while True:
            due_ms = self.shard.machine.next_deadline_ms()
            if due_ms is None or due_ms > until_ms:
                break
            self.clock.time_ms = max(due_ms, self.clock.time_ms)
            list(self.shard.expire(now=self.now))
            self.settle()
        self.clock.time_ms = until_ms

    def settle(self) -> None:
        """Deliver what may be delivered, and check it."""
        for join, actor in list(self.joins.items()):
            if join.reply is not None:
                del self.joins[join]
                self.note_join(actor, join.reply)
        for sync, (who, generation) in list(self.syncs.items()):
            if sync.reply is not None:
                del self.syncs[sync]
                self.note_sync(who, generation, sync.reply)
        for told in list(self.told):
            if told.end_offset <= self.journal.high_watermark:
                self.told.remove(told)
                self.check_delivered(told)
        for offset, end_offset in self.commits:
            if end_offset <= self.journal.high_watermark:
                self.acknowledged = max(self.acknowledged, offset)
        fetched = self.shard.machine.fetch(GROUP, [TP], require_stable=False)[TP].offset
        assert self.shard.is_closed or fetched >= self.acknowledged, "a commit was lost"

    def check_delivered(self, told: Told) -> None:
        if told.reply.error is not ErrorCode.NONE:
            return
        assert told.generation >= self.last_generation, "the generation went back"
        self.last_generation = told.generation
        for partition in filter(None, told.reply.assignment.decode().split(",")):
            owner = self.owners.setdefault((told.generation, int(partition)), told.who)
            assert owner == told.who, "a partition has two owners"


ACTIONS = (
    World.join,
    World.join,
    World.join,
    World.sync,
    World.sync,
    World.sync,
    World.heartbeat,
    World.leave,
    World.restart,
    World.commit,
    World.commit,
    World.wait,
    World.wait,
    World.cooperate,
    World.cooperate,
    World.toggle_speed,
    World.toggle_failure,
    World.fail_over,
)
steps = st.lists(
    st.tuples(st.sampled_from(ACTIONS), st.integers(0, MEMBERS - 1)), min_size=20, max_size=120
)


@settings(max_examples=150, deadline=None)
@given(steps)
def test_no_two_owners_no_lost_commit_and_every_parked_request_is_answered(
    steps: list[tuple[object, int]],
) -> None:
    world = World()
    for action, index in steps:
        action(world, world.actors[index])  # type: ignore[operator]
        world.settle()
    world.journal.failure = None
    world.journal.commit()
    world.advance(3_600_000)
    world.settle()
    assert not world.joins, "a join was never answered"
    assert not world.syncs, "a sync was never answered"
    assert world.shard.machine.describe(GROUP).state in ("Empty", "Dead")


@settings(max_examples=100, deadline=None)
@given(steps)
def test_a_replay_of_the_log_gives_what_the_log_was_written_from(
    steps: list[tuple[object, int]],
) -> None:
    world = World()
    for action, index in steps:
        action(world, world.actors[index])  # type: ignore[operator]
        world.settle()
    replayed = Groups(CONFIG)
    loading = Loading(world.journal, replayed, max_bytes=1)
    list(loading.replay(bytes(world.journal.data), now=world.now))
    live = world.shard.machine
    assert replayed.fetch(GROUP, [TP], require_stable=False) == live.fetch(
        GROUP, [TP], require_stable=False
    )
    described = live.describe(GROUP)
    if described.state == "Stable":
        assert replayed.describe(GROUP) == described
        machine, other = live.find(GROUP), replayed.find(GROUP)
        assert machine is not None
        assert other is not None
        assert machine.group.generation == other.group.generation
        assert machine.group.leader_id == other.group.leader_id
