"""In-sync sets in the tree: written on condition, told to the controller."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.partitions import ISR_CHANGES_PATH, decode_partitions
from moldau.coordination.layout.topics import decode_state
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.replication import in_sync, isr_notices
from moldau.replication.in_sync import InSyncSets
from moldau.replication.partition import Partition
from moldau.runtime.waiters import Waiters
from unit.broker.world import SettableClock
from unit.replication.replica_set import LAG_MS, T0, ReplicaSet

PATH = topic_nodes.state_path(T0)


@dataclass
class Setting:
    """A leader of three whose followers are late, and the partition's node."""

    ensemble: MemoryEnsemble
    tree: MemoryTree
    clock: SettableClock
    replicas: ReplicaSet
    waiters: Waiters = field(default_factory=Waiters)
    sets: InSyncSets = field(init=False)

    def __post_init__(self) -> None:
        self.sets = self.sets_that_look_within(LAG_MS)

    @property
    def partition(self) -> Partition:
        return self.replicas.members[1].partition

    async def until(self, satisfied: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not satisfied():
                await asyncio.sleep(0)

    def sets_that_look_within(self, lag_max_ms: int) -> InSyncSets:
        return InSyncSets(
            self.tree,
            self.replicas.members[1].replicas,
            waiters=self.waiters,
            clock=self.clock,
            lag_max_ms=lambda: lag_max_ms,
        )

    def node(self) -> topic_nodes.PartitionStateNode:
        return decode_state(self.ensemble.nodes.get(PATH).data)

    async def be_late(self) -> None:
        """Let the followers miss a record for too long, and look."""
        self.replicas.append(1, b"missed", acks=1)
        self.clock.time_ms += LAG_MS + 1
        await self.sets.look_at_all()


@asynccontextmanager
async def running(sets: InSyncSets) -> AsyncIterator[None]:
    run = asyncio.ensure_future(sets.run())
    yield
    run.cancel()
    with suppress(asyncio.CancelledError):
        await run


@pytest.fixture
async def setting(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Setting]:
    monkeypatch.setattr(in_sync, "CHECK_INTERVAL_MS", 1)
    monkeypatch.setattr(in_sync, "_RETRY_S", 0)
    clock = SettableClock(0)
    ensemble = MemoryEnsemble(clock)
    tree = ensemble.connect()
    replicas = ReplicaSet(count=3, min_insync_replicas=1)
    state = topic_nodes.PartitionStateNode(
        leader=1, leader_epoch=0, isr=(1, 2, 3), controller_epoch=1
    )
    parts = PATH.split("/")[1:-1]
    for depth in range(1, len(parts) + 1):
        await tree.create(Create("/" + "/".join(parts[:depth])))
    await tree.create(Create(ISR_CHANGES_PATH))
    await tree.create(Create(PATH, state.encode()))
    setting = Setting(ensemble, tree, clock, replicas)
    async with running(setting.sets):
        yield setting


async def test_late_replicas_leave_the_set_in_the_tree_first(setting: Setting) -> None:
    await setting.be_late()
    assert setting.partition.state.isr == (1, 2, 3), "not before it is written"
    await setting.until(lambda: setting.partition.state.isr == (1,))
    node = setting.node()
    assert (node.isr, node.leader, node.leader_epoch, node.controller_epoch) == ((1,), 1, 0, 1)
    assert setting.partition.state.partition_epoch == 1
    assert setting.partition.log.high_watermark == 1
    assert (setting.sets.shrinks.value, setting.sets.expansions.value) == (1, 0)


async def test_a_look_after_a_fetch_removes_nobody(setting: Setting) -> None:
    setting.replicas.append(1, b"missed", acks=1)
    setting.clock.time_ms += LAG_MS + 1
    setting.sets.look(setting.partition)
    for _ in range(20):
        await asyncio.sleep(0)
    assert setting.node().isr == (1, 2, 3)
    setting.sets.look(setting.partition, may_shrink=True)
    await setting.until(lambda: setting.partition.state.isr == (1,))


async def test_what_is_known_of_followers_is_brought_up_to_date_where_this_broker_leads(
    setting: Setting,
) -> None:
    seen: list[Partition] = []
    setting.sets.note_idle = seen.append
    setting.sets.look(setting.partition)
    assert seen == [setting.partition]
    setting.replicas.elect(2)
    setting.replicas.tell(1)
    setting.sets.look(setting.partition)
    assert seen == [setting.partition]


async def test_a_set_in_which_one_takes_the_place_of_another_counts_as_one_that_grew(
    setting: Setting,
) -> None:
    await setting.be_late()
    setting.partition.note_fetch(3, 1, log_start_offset=0, now_ms=setting.clock.now_ms())
    await setting.until(lambda: setting.partition.state.isr == (1, 3))
    setting.replicas.append(1, b"missed by 3", acks=1)
    setting.clock.time_ms += LAG_MS + 1
    setting.partition.note_fetch(2, 2, log_start_offset=0, now_ms=setting.clock.now_ms())
    await setting.sets.look_at_all()
    await setting.until(lambda: setting.partition.state.isr == (1, 2))
    assert (setting.sets.shrinks.value, setting.sets.expansions.value) == (1, 2)


async def test_who_waits_for_a_partition_hears_of_its_new_set(setting: Setting) -> None:
    watch = setting.waiters.watch()
    watch.add(T0)
    await setting.be_late()
    await setting.until(lambda: setting.partition.state.isr == (1,))
    assert watch.take() == [T0]


async def test_who_catches_up_while_a_set_is_written_joins_right_after(setting: Setting) -> None:
    await setting.be_late()
    setting.partition.note_fetch(3, 1, log_start_offset=0, now_ms=setting.clock.now_ms())
    await setting.until(lambda: setting.node().isr == (1, 3))


async def test_late_replicas_are_looked_for_twice_in_the_time_they_may_be_late(
    setting: Setting,
) -> None:
    setting.replicas.append(1, b"missed", acks=1)
    setting.clock.time_ms += LAG_MS + 1
    async with running(setting.sets_that_look_within(2)):
        await setting.until(lambda: setting.partition.state.isr == (1,))


async def test_who_has_caught_up_joins_again(setting: Setting) -> None:
    await setting.be_late()
    await setting.until(lambda: setting.partition.state.isr == (1,))
    setting.partition.note_fetch(3, 1, log_start_offset=0, now_ms=setting.clock.now_ms())
    assert setting.partition.may_join(3)
    setting.sets.look(setting.partition)
    await setting.until(lambda: setting.partition.state.isr == (1, 3))
    assert setting.node().isr == (1, 3)
    assert setting.partition.state.partition_epoch == 2
    assert setting.sets.expansions.value == 1


async def test_a_node_that_the_controller_has_changed_is_left_alone(setting: Setting) -> None:
    newer = topic_nodes.PartitionStateNode(leader=2, leader_epoch=1, isr=(2, 3), controller_epoch=1)
    await setting.tree.set(PATH, newer.encode())
    await setting.be_late()
    for _ in range(20):
        await asyncio.sleep(0)
    assert setting.node() == newer
    assert setting.partition.state.isr == (1, 2, 3)
    assert setting.partition.log.high_watermark == 0, "whoever may be in sync still counts"
    assert setting.partition.propose_isr(now_ms=setting.clock.now_ms()) is None


async def test_a_partition_whose_node_is_gone_changes_nothing(setting: Setting) -> None:
    await setting.tree.delete(PATH)
    await setting.be_late()
    for _ in range(20):
        await asyncio.sleep(0)
    assert setting.partition.state.isr == (1, 2, 3)


async def test_a_write_whose_answer_was_lost_is_recognised(setting: Setting) -> None:
    await setting.be_late()
    await asyncio.sleep(0)
    while setting.node().isr != (1,):
        await asyncio.sleep(0)
    setting.tree.suspend()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert setting.partition.state.isr == (1, 2, 3), "nobody knows what became of the write"
    setting.tree.resume()
    await setting.until(lambda: setting.partition.state.isr == (1,))
    assert setting.partition.state.partition_epoch == 1
    assert setting.ensemble.nodes.get(PATH).stat.version == 1, "written once"


async def test_a_change_that_the_controller_has_overtaken_is_not_tried_again(
    setting: Setting,
) -> None:
    setting.tree.suspend()
    await setting.be_late()
    await asyncio.sleep(0)
    setting.replicas.elect(1, isr=(1, 2))
    setting.replicas.tell(1)
    setting.tree.resume()
    for _ in range(20):
        await asyncio.sleep(0)
    assert setting.ensemble.nodes.get(PATH).stat.version == 0
    assert setting.partition.state.isr == (1, 2)


async def test_the_controller_is_told_after_a_quiet_time(setting: Setting) -> None:
    await setting.be_late()
    await setting.until(lambda: setting.partition.state.isr == (1,))
    assert await setting.tree.children(ISR_CHANGES_PATH) == []
    setting.clock.time_ms += isr_notices.QUIET_MS + 1

    def is_told() -> bool:
        return bool(setting.ensemble.nodes.children(ISR_CHANGES_PATH))

    await setting.until(is_told)
    (name,) = setting.ensemble.nodes.children(ISR_CHANGES_PATH)
    assert name.startswith("isr_change_")
    data = setting.ensemble.nodes.get(f"{ISR_CHANGES_PATH}/{name}").data
    assert decode_partitions(data) == [T0]
    notices = setting.sets._notices
    await setting.until(lambda: not notices.due(now_ms=setting.clock.monotonic_ms()))
