"""Requests parked until something happens to a key (Kafka calls this the purgatory)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable


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

    def wake(self, key: Hashable) -> None:
        """Let everyone parked on `key` look again."""
        parked = self._parked.get(key)
        if parked:
            for woken in tuple(parked):
                _wake(woken)

    def _park(self, keys: tuple[Hashable, ...], woken: asyncio.Future[None]) -> None:
        for key in keys:
            self._parked.setdefault(key, {})[woken] = None

    def _unpark(self, keys: tuple[Hashable, ...], woken: asyncio.Future[None]) -> None:
        for key in keys:
            parked = self._parked[key]
            parked.pop(woken, None)
            if not parked:
                del self._parked[key]


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
