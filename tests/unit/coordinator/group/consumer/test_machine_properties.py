"""What holds for a group of the consumer protocol whatever members, topics and time do."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.config.broker.groups import GroupConfig
from moldau.coordinator.group.consumer.assignment import (
    NOTHING,
    Assignment,
    is_within,
    joined,
    partitions_of,
)
from moldau.coordinator.group.consumer.group import ConsumerGroup, ConsumerGroupState
from moldau.coordinator.group.consumer.messages import Heartbeat
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.offsets import Offsets
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.group_script import GROUP, ScriptClock
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.group.consumer.samples import image

CLUSTERS = (image(t=3, u=2), image(t=5, u=2), image(t=5), image(t=4, u=1, v=2))
SUBSCRIPTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("t",), ""),
    (("t", "u"), ""),
    (("v",), "[tu]"),
    ((), ".*"),
)
CONFIG = GroupConfig(group_consumer_max_size=4)


@dataclass
class Client:
    """A member as it sees itself; the last two are static, and want the same place."""

    index: int
    life: int = 0
    epoch: int = 0
    has: Assignment = field(default_factory=dict)
    subscription: int = 0
    has_missed: bool = False
    """Whether an answer was lost: then it sends everything, and is sent everything (KIP-848)."""

    @property
    def member_id(self) -> str:
        return f"{self.index}-{self.life}"

    @property
    def instance_id(self) -> str | None:
        return "static" if self.index >= 3 else None


@dataclass
class World:
    """One group under every kind of trouble."""

    clock: ScriptClock = field(default_factory=ScriptClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    clients: list[Client] = field(default_factory=lambda: [Client(n) for n in range(5)])
    cluster: int = 0

    def __post_init__(self) -> None:
        self.shard = self._new_shard()
        self.shard.begin()

    def _new_shard(self) -> Shard[Groups]:
        machine = Groups(CONFIG, lambda: CLUSTERS[self.cluster])
        return Shard(machine, self.journal, ShardPorts(self.clock, Waiters(), 5.0))

    @property
    def now(self) -> Moment:
        return Moment(self.clock.time_ms, self.clock.time_ms)

    @property
    def group(self) -> ConsumerGroup:
        machine = self.shard.machine.find_consumer(GROUP)
        return ConsumerGroup(GROUP, Offsets()) if machine is None else machine.group

    # What can happen

    def join(self, client: Client, number: int) -> None:
        client.has, client.epoch = NOTHING, 0
        client.subscription = number % len(SUBSCRIPTIONS)
        names, pattern = SUBSCRIPTIONS[client.subscription]
        heartbeat = Heartbeat(
            member_id=client.member_id,
            epoch=0,
            instance_id=client.instance_id,
            rebalance_timeout_ms=30_000,
            topic_names=names,
            topic_pattern=pattern,
            assignor="range" if number % 3 == 0 else None,
            owned=NOTHING,
            must_have_id=True,
        )
        self.say(client, heartbeat)

    def beat(self, client: Client, _: int) -> None:
        self.say(client, self.alive(client))

    def acknowledge(self, client: Client, _: int, *, is_heard: bool = True) -> None:
        # Who was turned away joins anew. If it said that it has nothing instead, in an epoch
        # that was its own once, it would be taken for one that missed an answer; so by Apache's.
        if client.epoch > 0:
            self.say(client, self.alive(client, client.has), is_heard=is_heard)

    def lost(self, client: Client, number: int) -> None:
        """The answer does not arrive."""
        self.acknowledge(client, number, is_heard=False)

    def leave(self, client: Client, number: int) -> None:
        epoch = -2 if client.instance_id is not None and number % 2 else -1
        heartbeat = Heartbeat(
            member_id=client.member_id, epoch=epoch, instance_id=client.instance_id
        )
        client.has = NOTHING  # who leaves has stopped before
        self.say(client, heartbeat, is_heard=False)

    def restart(self, client: Client, _: int) -> None:
        client.life += 1
        client.epoch, client.has = 0, NOTHING

    def wait(self, _: Client, number: int) -> None:
        self.clock.time_ms += number * 5000
        list(self.shard.expire(now=self.now))

    def change_topics(self, _: Client, number: int) -> None:
        self.cluster = number % len(CLUSTERS)

    def reload(self, *_: object) -> None:
        self.shard.close()
        self.shard = self._new_shard()
        replay(self.journal, self.shard.machine, self.now)
        self.shard.begin()

    def break_journal(self, _: Client, number: int) -> None:
        failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        self.journal.failure = failure if number % 3 == 0 else None

    # How

    def alive(self, client: Client, owned: Assignment | None = None) -> Heartbeat:
        names, pattern = SUBSCRIPTIONS[client.subscription]
        is_full = client.has_missed and client.epoch > 0
        return Heartbeat(
            member_id=client.member_id,
            epoch=max(client.epoch, 1),
            instance_id=client.instance_id,
            rebalance_timeout_ms=30_000 if is_full else None,
            topic_names=names if is_full else None,
            topic_pattern=pattern if is_full else None,
            owned=client.has if is_full else owned,
        )

    def say(self, client: Client, heartbeat: Heartbeat, *, is_heard: bool = True) -> None:
        try:
            decision = self.shard.machine.consumer_heartbeat(GROUP, heartbeat, now=self.now)
            self.shard.write(decision)
        except KafkaError as error:
            if error.code is not ErrorCode.NOT_ENOUGH_REPLICAS:  # then it asks again
                client.has, client.epoch = NOTHING, 0
            return
        client.has_missed = not is_heard
        if is_heard:
            client.epoch = decision.reply.epoch
            if decision.reply.assignment is not None:
                client.has = decision.reply.assignment

    # What must hold

    def check(self) -> None:
        members = self.group.members
        held = [
            partition
            for member in members.values()
            for partition in partitions_of(joined(member.assigned, member.revoking))
        ]
        assert len(held) == len(set(held)), "a partition has two owners"
        assert not any(self.group.is_free(*partition) for partition in held)
        for client in self.clients:
            member = members.get(client.member_id)
            if member is not None and member.epoch >= 0:
                assert is_within(client.has, joined(member.assigned, member.revoking))
        check_replay(self)


def replay(journal: MemoryJournal, machine: Groups, now: Moment) -> None:
    loading = Loading(journal, machine, max_bytes=1)
    list(loading.replay(bytes(journal.data), now=now))


def check_replay(world: World) -> None:
    """Everything is in the log."""
    other = Groups(CONFIG, lambda: CLUSTERS[world.cluster])
    replay(world.journal, other, world.now)
    machine = other.find_consumer(GROUP)
    if machine is None:
        assert world.group.members == {}
        return
    for name in ("epoch", "assignment_epoch", "members", "static_ids", "targets", "topics"):
        assert getattr(machine.group, name) == getattr(world.group, name), name
    assert machine.group.patterns == world.group.patterns


def check_convergence(world: World) -> None:
    """When all go on as they should, everybody gets what it shall have, and nothing is left."""
    world.journal.failure = None
    for _ in range(25):  # in this time also those end who are in the way of themselves
        for client in world.clients:
            if client.epoch > 0:
                world.acknowledge(client, 0)
            else:
                world.join(client, client.subscription)
        world.wait(world.clients[0], 1)
        world.check()
    assert world.group.state is ConsumerGroupState.STABLE
    names = CLUSTERS[world.cluster].topics
    wanted = {
        (names[name].topic_id, number)
        for name in world.group.subscribed
        if name in names
        for number in names[name].partitions
    }
    held = [p for client in world.clients for p in partitions_of(client.has)]
    assert sorted(held) == sorted(wanted)


ACTIONS = st.sampled_from(
    [
        *(World.join, World.acknowledge) * 4,
        *(World.beat, World.lost) * 2,
        *(World.leave, World.restart, World.wait, World.change_topics, World.reload),
        World.break_journal,
    ]
)
STEPS = st.lists(st.tuples(ACTIONS, st.integers(0, 4), st.integers(0, 11)), max_size=60)


@settings(max_examples=60)
@given(STEPS)
def test_no_partition_has_two_owners_and_all_are_shared_in_the_end(
    steps: list[tuple[object, int, int]],
) -> None:
    world = World()
    for action, index, number in steps:
        action(world, world.clients[index], number)  # type: ignore[operator]
        world.check()
    check_convergence(world)
    world.check()
