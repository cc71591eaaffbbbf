"""Changing the nodes of partitions, on condition that this controller still is one.

Every request carries a check of the version of `/controller_epoch`, which the next
controller changes: a controller that has been replaced gets BadVersion for that path.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from moldau.controller.cluster import LeaderIsr
from moldau.controller.controller import StateWrite
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.tree import (
    BadVersion,
    Check,
    Create,
    Delete,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    Operation,
    SetData,
    Tree,
)

_log = logging.getLogger(__name__)

# ZooKeeper refuses requests of more than a megabyte.
_PARTITIONS_PER_REQUEST = 500
_FIRST_VERSION = 0

Item = TypeVar("Item")
Written = tuple[StateWrite, int]


class StateNodes:
    """The nodes of partitions, for one term of one controller."""

    def __init__(self, tree: Tree, epoch_version: int) -> None:
        self._tree = tree
        self._epoch_check = Check(controller_nodes.EPOCH_PATH, epoch_version)

    async def write(self, writes: Iterable[StateWrite]) -> list[Written]:
        """Make the writes; returns those that took effect, with the versions they gave.

        Raises BadVersion if another controller has been elected.
        """
        written: list[Written] = []
        pending = list(writes)
        new = [one for one in pending if one.expected_version is None]
        for some in _chunks(new):
            written += [(write, _FIRST_VERSION) for write in await self._create_together(some)]
        changed = [one for one in pending if one.expected_version is not None]
        for some in _chunks(changed):
            written += await self._set_together(some)
        return written

    async def write_topic(
        self, topic: str, assignment: topic_nodes.TopicAssignment, version: int
    ) -> bool:
        """Write a topic's node if it has that version still; returns whether it had.

        Raises BadVersion if another controller has been elected.
        """
        path = topic_nodes.topic_path(topic)
        try:
            await self._multi([SetData(path, assignment.encode(), version)])
        except NoNode:
            return False
        except BadVersion as error:
            if error.path == controller_nodes.EPOCH_PATH:
                raise
            return False
        return True

    async def put(self, path: str, data: bytes) -> None:
        """Create a node, or replace its data.

        Raises BadVersion if another controller has been elected.
        """
        try:
            await self._multi([Create(path, data)])
        except NodeExists:
            await self.change(path, data)

    async def change(self, path: str, data: bytes) -> None:
        """Replace the data of a node that may be gone already.

        Raises BadVersion if another controller has been elected.
        """
        with contextlib.suppress(NoNode):
            await self._multi([SetData(path, data)])

    async def remove(self, paths: Sequence[str]) -> None:
        """Remove nodes that may be gone already, children before their parents.

        Other clients may have put nodes below them: those go, too.
        Raises BadVersion if another controller has been elected.
        """
        for some in _chunks(paths):
            try:
                await self._multi([Delete(path) for path in some])
            except (NoNode, NotEmpty):
                for path in some:
                    await self._remove_whole(path)

    async def _remove_whole(self, path: str) -> None:
        with contextlib.suppress(NoNode):
            try:
                await self._multi([Delete(path)])
            except NotEmpty:
                for name in await self._tree.children(path):
                    await self._remove_whole(f"{path}/{name}")
                await self._remove_whole(path)

    async def _create_together(self, writes: Sequence[StateWrite]) -> Sequence[StateWrite]:
        topics = dict.fromkeys(write.partition.topic for write in writes)
        roots = [
            Create(path)
            for path in map(topic_nodes.partitions_path, topics)
            if await self._tree.exists(path) is None
        ]
        nodes = [node for write in writes for node in _new_nodes(write)]
        try:
            await self._multi([*roots, *nodes])
        except (NoNode, NodeExists):
            # A topic was deleted meanwhile, an earlier controller got part of the way, or a
            # node could not be parsed: that must not hold up the others.
            return [write for write in writes if await self._create(write)]
        return writes

    async def _create(self, write: StateWrite) -> bool:
        """Create what is missing for one partition; returns whether its state is ours."""
        partition, state = _new_nodes(write)
        try:
            for parent in (Create(topic_nodes.partitions_path(write.partition.topic)), partition):
                with contextlib.suppress(NodeExists):
                    await self._multi([parent])
            await self._multi([state])
        except NoNode:
            return False
        except NodeExists:
            _log.warning("Failed to create the state of %s: it exists already", write.partition)
            return False
        return True

    async def _set_together(self, writes: Sequence[StateWrite]) -> list[Written]:
        try:
            stats = await self._multi([_change(write) for write in writes])
        except (NoNode, BadVersion):
            # One of them was changed by its leader, or is gone: the others need not wait.
            versions = [await self._set(write) for write in writes]
        else:
            versions = [_version(stat) for stat in stats]
        return [
            (write, version)
            for write, version in zip(writes, versions, strict=True)
            if version is not None
        ]

    async def _set(self, write: StateWrite) -> int | None:
        try:
            (stat,) = await self._multi([_change(write)])
        except NoNode:
            return None
        except BadVersion as error:
            if error.path == controller_nodes.EPOCH_PATH:
                raise
            return None
        return _version(stat)

    async def _multi(self, operations: Sequence[Operation]) -> Sequence[object]:
        _, *results = await self._tree.multi([self._epoch_check, *operations])
        return results


def _new_nodes(write: StateWrite) -> tuple[Create, Create]:
    return (
        Create(topic_nodes.partition_path(write.partition)),
        Create(topic_nodes.state_path(write.partition), _encode(write.state)),
    )


def _change(write: StateWrite) -> SetData:
    assert write.expected_version is not None
    path = topic_nodes.state_path(write.partition)
    return SetData(path, _encode(write.state), write.expected_version)


def _version(stat: object) -> int:
    assert isinstance(stat, NodeStat)
    return stat.version


def _encode(state: LeaderIsr) -> bytes:
    return topic_nodes.PartitionStateNode(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        controller_epoch=state.controller_epoch,
    ).encode()


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _PARTITIONS_PER_REQUEST):
        yield items[start : start + _PARTITIONS_PER_REQUEST]
