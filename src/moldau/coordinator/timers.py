"""Deadlines by key, of which a machine has very many that nearly always move on."""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Timers(Generic[Key]):
    """Says which keys are due; to set a later deadline costs one dictionary write.

    The heap has one entry for each key, at its deadline or before it. An entry that comes
    up too early is put back in its true place.
    """

    def __init__(self) -> None:
        self._deadlines: dict[Key, int] = {}
        self._queued: dict[Key, int] = {}
        self._heap: list[tuple[int, int, Key]] = []
        self._pushes = 0

    def __len__(self) -> int:
        return len(self._deadlines)

    def set(self, key: Key, deadline_ms: int) -> None:
        """Let `key` be due at `deadline_ms`, instead of any deadline it had."""
        self._deadlines[key] = deadline_ms
        queued_ms = self._queued.get(key)
        if queued_ms is None or deadline_ms < queued_ms:
            self._push(key, deadline_ms)

    def cancel(self, key: Key) -> None:
        """Forget the deadline of `key`, if it has one."""
        self._deadlines.pop(key, None)

    def deadline_ms(self, key: Key) -> int | None:
        """When `key` is due."""
        return self._deadlines.get(key)

    def next_deadline_ms(self) -> int | None:
        """When the first key is due."""
        while self._heap:
            at_ms, _, key = self._heap[0]
            if self._queued.get(key) != at_ms:
                heapq.heappop(self._heap)  # an earlier entry was pushed after it
                continue
            deadline_ms = self._deadlines.get(key)
            if deadline_ms == at_ms:
                return at_ms
            heapq.heappop(self._heap)
            del self._queued[key]
            if deadline_ms is not None:
                self._push(key, deadline_ms)
        return None

    def take_due(self, *, now_ms: int) -> list[Key]:
        """The keys whose time has come, the earliest first; they have no deadline any more."""
        due: list[Key] = []
        while True:
            at_ms = self.next_deadline_ms()
            if at_ms is None or at_ms > now_ms:
                return due
            _, _, key = heapq.heappop(self._heap)
            del self._queued[key]
            del self._deadlines[key]
            due.append(key)

    def _push(self, key: Key, at_ms: int) -> None:
        # Counted, so that keys with the same deadline come in the order they were set.
        self._pushes += 1
        self._queued[key] = at_ms
        heapq.heappush(self._heap, (at_ms, self._pushes, key))
