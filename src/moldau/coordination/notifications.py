"""Notifications of changes: sequential nodes below one node, which every broker watches.

Each broker reads those that it has not seen; a broker that finds an old one removes it.
"""

import contextlib

from moldau.coordination.tree import NoNode, Tree, Watch
from moldau.runtime.clock import Clock

NOTIFICATION_KEPT_MS = 15 * 60_000


class Notifications:
    """What was announced below a node, each once."""

    def __init__(self, tree: Tree, path: str, clock: Clock) -> None:
        self._tree = tree
        self._path = path
        self._clock = clock
        self._last = -1

    async def new(self, *, watch: Watch | None = None) -> list[bytes]:
        """What was announced since this was last asked; the watch waits for more."""
        found = []
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
            if self._clock.now_ms() - node.stat.created_ms > NOTIFICATION_KEPT_MS:
                with contextlib.suppress(NoNode):
                    await self._tree.delete(path)
        return found
