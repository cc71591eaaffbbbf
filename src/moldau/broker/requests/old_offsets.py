"""Offsets of version 0 commits: before Kafka 0.8.2 consumers kept them in ZooKeeper."""

from moldau.coordination.tree import Create, NodeExists, NoNode, Tree, parent_path
from moldau.model import TopicPartition


class OldOffsets:
    """Reads and writes `/consumers/<group>/offsets/<topic>/<partition>`."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def get(self, group_id: str, partition: TopicPartition) -> int | None:
        """The offset, None if none was stored."""
        try:
            node = await self._tree.get(_path(group_id, partition))
        except NoNode:
            return None
        return int(node.data) if node.data.isdigit() else None

    async def set(self, group_id: str, partition: TopicPartition, offset: int) -> None:
        """Store an offset."""
        path, data = _path(group_id, partition), str(offset).encode()
        try:
            await self._tree.set(path, data)
        except NoNode:
            await self._make(parent_path(path))
            await self._create(path, data)
            await self._tree.set(path, data)

    async def _make(self, path: str) -> None:
        if path != "/" and await self._tree.exists(path) is None:
            await self._make(parent_path(path))
            await self._create(path, None)

    async def _create(self, path: str, data: bytes | None) -> None:
        try:
            await self._tree.create(Create(path, data))
        except NodeExists:
            return  # another commit made it


def _path(group_id: str, partition: TopicPartition) -> str:
    return f"/consumers/{group_id}/offsets/{partition.topic}/{partition.partition}"
