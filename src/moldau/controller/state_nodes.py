"""Writing partition states into the tree, on condition that this controller still is one."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from moldau.controller.cluster import LeaderIsr
from moldau.controller.controller import StateWrite
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.tree import (
    BadVersion,
    Check,
    Create,
    NodeExists,
    NodeStat,
    NoNode,
    Operation,
    SetData,
    Tree,
)
from moldau.model import TopicPartition

# ZooKeeper refuses requests of more than a megabyte.
_PARTITIONS_PER_REQUEST = 500


class StateNodes:
    """The state nodes, guarded by the version of `/controller_epoch`."""

    def __init__(self, tree: Tree, epoch_version: int) -> None:
        self._tree = tree
        self._epoch_check = Check(controller_nodes.EPOCH_PATH, epoch_version)

    async def write(self, writes: Iterable[StateWrite]) -> list[tuple[StateWrite, int]]:
        """Make the writes; returns those that took effect, with the versions they gave.

        Raises BadVersion if another controller has been elected.
        """
        written = []
        pending = list(writes)
        new = [one for one in pending if one.expected_version is None]
        for topic, group in itertools.groupby(new, key=lambda one: one.partition.topic):
            written += await self._create(topic, list(group))
        for write in pending:
            if write.expected_version is not None:
                version = await self._set(write)
                if version is not None:
                    written.append((write, version))
        return written

    async def _create(
        self, topic: str, writes: Sequence[StateWrite]
    ) -> list[tuple[StateWrite, int]]:
        has_root = await self._tree.exists(topic_nodes.partitions_path(topic)) is not None
        roots = [] if has_root else [Create(topic_nodes.partitions_path(topic))]
        created: list[tuple[StateWrite, int]] = []
        for some in _chunks(writes):
            nodes = [node for write in some for node in _new_nodes(write)]
            try:
                await self._tree.multi([self._epoch_check, *roots, *nodes])
            except NoNode:
                return created  # The topic was deleted meanwhile.
            except NodeExists:
                # An earlier controller got part of the way: the nodes it made come as news.
                continue
            roots = []
            created += [(write, 0) for write in some]
        return created

    async def _set(self, write: StateWrite) -> int | None:
        path = topic_nodes.state_path(write.partition)
        assert write.expected_version is not None
        change = SetData(path, _encode(write.state), write.expected_version)
        try:
            _, stat = await self._tree.multi([self._epoch_check, change])
        except NoNode:
            return None
        except BadVersion as error:
            if error.path == controller_nodes.EPOCH_PATH:
                raise
            return None
        assert isinstance(stat, NodeStat)
        return stat.version


def _new_nodes(write: StateWrite) -> Iterator[Operation]:
    partition: TopicPartition = write.partition
    yield Create(topic_nodes.partition_path(partition))
    yield Create(topic_nodes.state_path(partition), _encode(write.state))


def _encode(state: LeaderIsr) -> bytes:
    return topic_nodes.PartitionState(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        controller_epoch=state.controller_epoch,
    ).encode()


def _chunks(writes: Sequence[StateWrite]) -> Iterator[Sequence[StateWrite]]:
    for start in range(0, len(writes), _PARTITIONS_PER_REQUEST):
        yield writes[start : start + _PARTITIONS_PER_REQUEST]
