"""Watches of all clients: who is notified of which change, once or while the connection lasts."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Generic, TypeVar

from moldau.coordination.tree import Change, WatchEvent, parent_path

Watcher = TypeVar("Watcher")


class WatchKind(IntEnum):
    """ZooKeeper's numbers, as clients send them to remove a watch."""

    CHILDREN = 1
    DATA = 2
    ANY = 3
    PERSISTENT = 4
    RECURSIVE = 5


_KEPT = (WatchKind.PERSISTENT, WatchKind.RECURSIVE)
_ENDS_DATA = (Change.CREATED, Change.DATA, Change.DELETED)
_ENDS_CHILDREN = (Change.CHILDREN, Change.DELETED)


class WatchTable(Generic[Watcher]):
    """Watches by kind and path. A client is notified once of a change, however often it watches."""

    def __init__(self) -> None:
        # Dicts as ordered sets: clients are notified in the order in which they began to watch.
        self._watchers: dict[tuple[WatchKind, str], dict[Watcher, None]] = {}
        self._places: dict[Watcher, set[tuple[WatchKind, str]]] = {}
        self._recursive = 0

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    @property
    def paths(self) -> int:
        """How many paths are watched."""
        return len({path for _, path in self._watchers})

    def add(self, kind: WatchKind, path: str, watcher: Watcher) -> None:
        """Notify a client of changes."""
        place = kind, path
        places = self._places.setdefault(watcher, set())
        if place not in places:
            places.add(place)
            self._watchers.setdefault(place, {})[watcher] = None
            self._recursive += kind is WatchKind.RECURSIVE

    def has(self, kind: WatchKind, path: str, watcher: Watcher) -> bool:
        """Whether a client watches; ANY is any kind."""
        places = self._places.get(watcher, set())
        return any((each, path) in places for each in _kinds(kind))

    def remove(self, kind: WatchKind, path: str, watcher: Watcher) -> bool:
        """Notify a client no more; False if it did not watch."""
        found = [each for each in _kinds(kind) if self.has(each, path, watcher)]
        for each in found:
            self._drop((each, path), watcher)
        return bool(found)

    def forget(self, watcher: Watcher) -> None:
        """The client's connection is gone, and its watches with it."""
        for place in self._places.pop(watcher, set()):
            self._unlist(place, watcher)

    def take(self, event: WatchEvent) -> list[Watcher]:
        """Whom to notify of a change; watches that were for one change are gone."""
        found: dict[Watcher, None] = {}
        for place in self._concerned(event):
            waiting = list(self._watchers.get(place, ()))
            found |= dict.fromkeys(waiting)
            if place[0] not in _KEPT:
                for watcher in waiting:
                    self._drop(place, watcher)
        return list(found)

    def _concerned(self, event: WatchEvent) -> Iterator[tuple[WatchKind, str]]:
        if event.change in _ENDS_DATA:
            yield WatchKind.DATA, event.path
        if event.change in _ENDS_CHILDREN:
            yield WatchKind.CHILDREN, event.path
        yield WatchKind.PERSISTENT, event.path
        if self._recursive and event.change is not Change.CHILDREN:
            path = event.path
            while True:
                yield WatchKind.RECURSIVE, path
                if path == "/":
                    return
                path = parent_path(path)

    def _drop(self, place: tuple[WatchKind, str], watcher: Watcher) -> None:
        places = self._places[watcher]
        places.discard(place)
        if not places:
            del self._places[watcher]
        self._unlist(place, watcher)

    def _unlist(self, place: tuple[WatchKind, str], watcher: Watcher) -> None:
        self._recursive -= place[0] is WatchKind.RECURSIVE
        watchers = self._watchers[place]
        del watchers[watcher]
        if not watchers:
            del self._watchers[place]


def _kinds(kind: WatchKind) -> list[WatchKind]:
    if kind is WatchKind.ANY:
        return [each for each in WatchKind if each is not WatchKind.ANY]
    return [kind]
