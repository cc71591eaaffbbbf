"""Watches of one session: what to call for which node. Each fires once."""

from moldau.coordination.tree import Change, Watch, WatchEvent

_ENDS_DATA_WATCH = (Change.CREATED, Change.DATA, Change.DELETED)
_ENDS_CHILDREN_WATCH = (Change.CHILDREN, Change.DELETED)


class Watches:
    """Watches by path: on a node itself, and on its children."""

    def __init__(self) -> None:
        # Dicts as ordered sets: a watch that is set twice fires once, in the order of setting.
        self._on_data: dict[str, dict[Watch, None]] = {}
        self._on_children: dict[str, dict[Watch, None]] = {}

    def on_data(self, path: str, watch: Watch | None) -> None:
        """Wait for a node to be created, set or deleted."""
        if watch is not None:
            self._on_data.setdefault(path, {})[watch] = None

    def on_children(self, path: str, watch: Watch | None) -> None:
        """Wait for a node's children to change, or its end."""
        if watch is not None:
            self._on_children.setdefault(path, {})[watch] = None

    def take(self, event: WatchEvent) -> list[Watch]:
        """The watches that waited for this, which wait no longer."""
        taken: dict[Watch, None] = {}
        if event.change in _ENDS_DATA_WATCH:
            taken |= self._on_data.pop(event.path, {})
        if event.change in _ENDS_CHILDREN_WATCH:
            taken |= self._on_children.pop(event.path, {})
        return list(taken)

    def take_all(self) -> list[tuple[Watch, str]]:
        """Every watch with its path, none of which waits any longer."""
        taken: dict[tuple[Watch, str], None] = {}
        for waiting in (self._on_data, self._on_children):
            taken |= {(watch, path): None for path, watches in waiting.items() for watch in watches}
            waiting.clear()
        return list(taken)
