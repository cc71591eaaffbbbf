"""Notifications of changes: sequential nodes below one node, which every broker watches.

Each broker reads those that it has not seen; a broker that finds an old one removes it. How old it
is, the nodes themselves say: a broker whose clock is fast, as Kafka asks it, would remove what
others have not read yet.
"""

import contextlib
from collections.abc import Mapping

from moldau.coordination.tree import NoNode, Tree, Watch

NOTIFICATION_KEPT_MS = 15 * 60_000


class Notifications:
    """What was announced below a node, each once."""

    def __init__(self, tree: Tree, path: str) -> None:
        self._tree = tree
        self._path = path
        self._last = -1

    async def new(self, *, watch: Watch | None = None) -> list[bytes]:
        """What was announced since this was last asked; the watch waits for more."""
        found = []
        created_ms: dict[str, int] = {}
        for name in await self._tree.children(self._path, watch=watch):
            path = f"{self._path}/{name}"
            try:
                number = int(name.rpartition("_")[2])
                node = await self._tree.get(path)
            except (NoNode, ValueError):
                continue
            if number > self._last:
                self._last = number
                found.append(node.data)
            created_ms[path] = node.stat.created_ms
        await self._remove_old(created_ms)
        return found

    async def _remove_old(self, created_ms: Mapping[str, int]) -> None:
        newest_ms = max(created_ms.values(), default=0)
        for path, at_ms in created_ms.items():
            if newest_ms - at_ms > NOTIFICATION_KEPT_MS:
                with contextlib.suppress(NoNode):
                    await self._tree.delete(path)
