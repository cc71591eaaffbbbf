"""Keeps the in-sync sets of the partitions led here true, in the tree and so for all brokers.

A set is written on condition that the partition's node is as this leader knows it. Where it
is not, the controller has changed it, perhaps to elect another leader: the change stays
undecided, counting for the high watermark both as it was and as it should be, until the
controller's own message comes.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.partitions import ISR_CHANGE_PREFIX, encode_partitions
from moldau.coordination.tree import BadVersion, Create, NoNode, SessionError, Tree
from moldau.replication.isr_notices import CHECK_INTERVAL_MS, IsrNotices
from moldau.replication.partition import IsrChange, Partition
from moldau.replication.replicas import Replicas
from moldau.runtime.clock import Clock
from moldau.runtime.metrics import Counter
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

_WRITTEN_TOGETHER = 100
# After so many partitions other work gets its turn.
_PARTITIONS_PER_TURN = 200
_RETRY_S = 0.1


class InSyncSets:
    """Finds the sets that should change, writes them and notifies the controller."""

    def __init__(
        self,
        tree: Tree,
        replicas: Replicas,
        *,
        waiters: Waiters,
        clock: Clock,
        lag_max_ms: Callable[[], int],
    ) -> None:
        self._tree = tree
        self._replicas = replicas
        self._waiters = waiters
        self._clock = clock
        self._lag_max_ms = lag_max_ms
        self._notices = IsrNotices(now_ms=clock.monotonic_ms())
        self._changes: deque[tuple[Partition, IsrChange]] = deque()
        self._has_changes = asyncio.Event()
        self.expansions = Counter()
        self.shrinks = Counter()
        self.note_idle: Callable[[Partition], None] = lambda _partition: None
        """Brings what is known of a partition's followers up to date."""

    def look(self, partition: Partition, *, may_shrink: bool = False) -> None:
        """See whether the set of a partition should change; it is written in the background."""
        if partition.is_leader:
            self.note_idle(partition)
        now_ms = self._clock.monotonic_ms()
        change = partition.propose_isr(now_ms=now_ms, may_shrink=may_shrink)
        if change is not None:
            self._changes.append((partition, change))
            self._has_changes.set()

    async def look_at_all(self) -> None:
        """Look for followers that have fallen behind."""
        for number, partition in enumerate(list(self._replicas)):
            if number % _PARTITIONS_PER_TURN == 0:
                await asyncio.sleep(0)
            self.look(partition, may_shrink=True)

    async def run(self) -> None:
        """Keep the sets true until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look_again())
            tasks.create_task(self._write_changes())
            tasks.create_task(self._notify_controller())

    # Loops

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(self._lag_max_ms() / 2 / 1000)
            await self.look_at_all()

    async def _write_changes(self) -> None:
        while True:
            await self._has_changes.wait()
            some = [
                self._changes.popleft() for _ in range(min(len(self._changes), _WRITTEN_TOGETHER))
            ]
            await asyncio.gather(*(self._carry_out(*one) for one in some))
            if not self._changes:
                self._has_changes.clear()

    async def _notify_controller(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL_MS / 1000)
            due = self._notices.due(now_ms=self._clock.monotonic_ms())
            if not due:
                continue
            notice = Create(ISR_CHANGE_PREFIX, encode_partitions(due), is_sequential=True)
            try:
                await self._tree.create(notice)
            except SessionError as error:
                _log.warning("Failed to notify the controller of changed in-sync sets: %s", error)
            else:
                self._notices.sent(due, now_ms=self._clock.monotonic_ms())

    # One change

    async def _carry_out(self, partition: Partition, change: IsrChange) -> None:
        name, before = partition.topic_partition, change.state
        version = await self._write(partition, change)
        if version is None:
            return
        _log.info(
            "In-sync set of %s changed to %s, was %s", name, list(change.isr), list(before.isr)
        )
        if len(change.isr) < len(before.isr):
            self.shrinks.add()
        else:
            self.expansions.add()
        partition.finish_isr_change(change, version)
        self._waiters.wake(name)
        self._notices.note(name, now_ms=self._clock.monotonic_ms())
        # A follower may have caught up meanwhile.
        self.look(partition)

    async def _write(self, partition: Partition, change: IsrChange) -> int | None:
        """The version under which the change is in the tree; None if it never will be."""
        path = topic_nodes.state_path(partition.topic_partition)
        before = change.state
        data = topic_nodes.PartitionStateNode(
            leader=before.leader,
            leader_epoch=before.leader_epoch,
            isr=change.isr,
            controller_epoch=before.controller_epoch,
        ).encode()
        while partition.is_changing(change):
            try:
                return (await self._tree.set(path, data, version=before.partition_epoch)).version
            except NoNode:
                return None
            except BadVersion:
                return await self._version_of(path, data)
            except SessionError:
                # It may have been written: then the next attempt finds another version.
                await asyncio.sleep(_RETRY_S)
        return None

    async def _version_of(self, path: str, data: bytes) -> int | None:
        """The version of the node, if it holds what this broker wrote."""
        while True:
            try:
                node = await self._tree.get(path)
            except NoNode:
                return None
            except SessionError:
                await asyncio.sleep(_RETRY_S)
                continue
            if node.data == data:
                return node.stat.version
            _log.info("%s was changed by the controller: waiting for LeaderAndIsr", path)
            return None
