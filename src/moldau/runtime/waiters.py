"""Requests parked until something happens to a key (Kafka calls this the purgatory)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Protocol


class Watcher(Protocol):
    """Is notified of what happens to a key."""

    def note(self, key: Hashable) -> None:
        """Something happened to a key."""


class Waiters:
    """Wakes parked requests by key; each checks again whether its condition holds.

    Checking and parking happen without an `await` in between, so on one event loop
    a wake-up can never slip through the gap and no lock is needed. A request parks
    at most once, so there are never more futures here than open connections.

    The timer is the loop's own instead of `asyncio.timeout`: a request runs without
    a task until it first waits (see `runtime/eager.py`), and `timeout` needs one.
    """

    def __init__(self) -> None:
        self._parked: dict[Hashable, dict[asyncio.Future[None], None]] = {}
        self._watchers: dict[Hashable, dict[Watcher, None]] = {}
        self._watches: dict[Hashable, dict[Watch, None]] = {}
        self.counts: Counter[str] = Counter()
        """How many are parked now, by the name of what they wait for."""

    def __len__(self) -> int:
        """How many requests are parked now."""
        return self.counts.total()

    async def until(
        self,
        satisfied: Callable[[], bool],
        *,
        keys: Iterable[Hashable],
        timeout_s: float,
        operation: str = "",
    ) -> bool:
        """Return True once `satisfied()` holds, or False when the time is up.

        `operation` is the name that Kafka's metrics have for this kind of waiting.
        """
        if satisfied():
            return True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        watched = tuple(keys)
        while loop.time() < deadline:
            woken = loop.create_future()
            timer = loop.call_at(deadline, _wake, woken)
            self._park(watched, woken)
            self.counts[operation] += 1
            try:
                await woken
            finally:
                timer.cancel()
                self.counts[operation] -= 1
                self._unpark(watched, woken)
            if satisfied():
                return True
        return False

    async def until_satisfied(
        self,
        satisfied: Callable[[], bool],
        *,
        keys: Iterable[Hashable],
        timeout_s: float,
        operation: str = "",
    ) -> bool:
        """Like `until`, but the caller that wakes a key checks the condition there and then.

        For the many that wait for the same partition, of which an event concerns a few: the
        others need not be woken. The condition must hold by the time its key is woken.
        """
        if satisfied():
            return True
        if timeout_s <= 0:
            return False
        loop = asyncio.get_running_loop()
        waiting = _Condition(satisfied, loop.create_future())
        timer = loop.call_later(timeout_s, _wake, waiting.woken)
        watched = tuple(dict.fromkeys(keys))
        for key in watched:
            self.enlist(key, waiting)
        self.counts[operation] += 1
        try:
            await waiting.woken
        finally:
            timer.cancel()
            self.counts[operation] -= 1
            for key in watched:
                self.dismiss(key, waiting)
        return satisfied()

    def wake(self, key: Hashable) -> None:
        """Let all requests that are parked on `key`, or watch it, check again."""
        # Mostly nobody waits, and each record that comes in asks.
        if key in self._parked:
            self._wake_parked(key)
        if key in self._watchers:
            self._note_watchers(key)
        if key in self._watches:
            for watch in self._watches[key]:
                watch.note(key)

    def wake_committed(self, key: Hashable) -> None:
        """Records of a partition are committed: a watch takes note, but sleeps on.

        Watches are for followers of the partition, which have these records.
        """
        self._wake_parked(key)
        self._note_watchers(key)
        for watch in self._watches.get(key, ()):
            watch.note_quietly(key)

    def wake_uncommitted(self, key: Hashable) -> None:
        """Records have come to a partition that are not committed yet.

        Enlisted watchers wait for those that are, and need not look.
        """
        self._wake_parked(key)
        for watch in self._watches.get(key, ()):
            watch.note(key)

    def _wake_parked(self, key: Hashable) -> None:
        parked = self._parked.get(key)
        if parked:
            for woken in tuple(parked):
                _wake(woken)

    def _note_watchers(self, key: Hashable) -> None:
        watchers = self._watchers.get(key)
        if watchers:
            for watcher in tuple(watchers):
                watcher.note(key)

    def enlist(self, key: Hashable, watcher: Watcher) -> None:
        """Notify a watcher of all that happens to a key; it may dismiss itself from `note`."""
        self._watchers.setdefault(key, {})[watcher] = None

    def dismiss(self, key: Hashable, watcher: Watcher) -> None:
        """Notify the watcher no longer."""
        watchers = self._watchers[key]
        del watchers[watcher]
        if not watchers:
            del self._watchers[key]

    def enlist_watch(self, key: Hashable, watch: "Watch") -> None:
        """Notify a watch of all that happens to a key, but for what is only for the parked."""
        self._watches.setdefault(key, {})[watch] = None

    def dismiss_watch(self, key: Hashable, watch: "Watch") -> None:
        """Notify the watch no longer."""
        watches = self._watches[key]
        del watches[watch]
        if not watches:
            del self._watches[key]

    def watch(self) -> "Watch":
        """A watch on keys that are still to be named."""
        return Watch(self)

    def _park(self, keys: tuple[Hashable, ...], woken: asyncio.Future[None]) -> None:
        for key in keys:
            self._parked.setdefault(key, {})[woken] = None

    def _unpark(self, keys: tuple[Hashable, ...], woken: asyncio.Future[None]) -> None:
        for key in keys:
            parked = self._parked[key]
            parked.pop(woken, None)
            if not parked:
                del self._parked[key]


class _Condition:
    """A request that is woken by a condition instead of a key."""

    __slots__ = ("satisfied", "woken")

    def __init__(self, satisfied: Callable[[], bool], woken: asyncio.Future[None]) -> None:
        self.satisfied = satisfied
        self.woken = woken

    def note(self, key: Hashable) -> None:  # noqa: ARG002 - as a watcher has it
        """Look whether it is time."""
        if not self.woken.done():
            try:
                is_over = self.satisfied()
            except Exception:  # noqa: BLE001 - raised again where it is waited for
                is_over = True
            if is_over:
                self.woken.set_result(None)


class Watch:
    """What has happened to many keys, for one that waits again and again for any of them.

    Parking anew on thousands of keys would take longer than what is waited for.
    """

    __slots__ = ("_changed", "_keys", "_waiters", "notify")

    def __init__(self, waiters: Waiters) -> None:
        self._waiters = waiters
        self.notify: Callable[[], None] | None = None
        """Called whenever something happens; it must not change the watches at once."""
        self._keys: dict[Hashable, None] = {}
        self._changed: dict[Hashable, None] = {}

    def add(self, key: Hashable) -> None:
        """Watch a key from now on."""
        self._keys[key] = None
        self._waiters.enlist_watch(key, self)

    def remove(self, key: Hashable) -> None:
        """Watch a key no longer."""
        if key in self._keys:
            del self._keys[key]
            self._changed.pop(key, None)
            self._waiters.dismiss_watch(key, self)

    def close(self) -> None:
        """Watch nothing any more."""
        for key in tuple(self._keys):
            self.remove(key)

    def note(self, key: Hashable) -> None:
        """Something happened to a key."""
        self._changed[key] = None
        if self.notify is not None:
            self.notify()

    def note_quietly(self, key: Hashable) -> None:
        """Something happened to a key that is worth a look, but not a wake-up."""
        self._changed[key] = None

    def take(self) -> list[Hashable]:
        """The keys that something has happened to since the last time."""
        changed = list(self._changed)
        self._changed.clear()
        return changed


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
