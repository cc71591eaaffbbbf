"""How much replication the administrator lets through for replicas that are catching up.

A reassignment names replicas in the topic's settings and sets a rate on each broker. Those
replicas are left out of fetches while the rate is exceeded, on either side: the leader's or
the follower's. Replicas in sync are never held up, since producers wait for them.
"""

from collections import deque
from collections.abc import Callable, Collection

from moldau.config.topic import TopicConfig
from moldau.replication.partition import Partition

WINDOW_MS = 1_000
WINDOW_COUNT = 11
_ALL = "*"


class Rate:
    """Bytes per second over the last windows, the current one among them."""

    def __init__(self, *, window_count: int = WINDOW_COUNT, window_ms: int = WINDOW_MS) -> None:
        self._window_count = window_count
        self._window_ms = window_ms
        self._windows: deque[list[int]] = deque()
        """Of each window its begin and its bytes."""

    def record(self, size: int, *, now_ms: int) -> None:
        """So many bytes went through."""
        self._drop_old(now_ms)
        if not self._windows or now_ms - self._windows[-1][0] >= self._window_ms:
            self._windows.append([now_ms, 0])
        self._windows[-1][1] += size

    def per_second(self, *, now_ms: int) -> float:
        """The rate; what has only just begun counts as spread over the whole time."""
        self._drop_old(now_ms)
        if not self._windows:
            return 0.0
        shortest_ms = (self._window_count - 1) * self._window_ms
        elapsed_ms = max(now_ms - self._windows[0][0], shortest_ms, 1)
        return 1000 * sum(size for _, size in self._windows) / elapsed_ms

    def _drop_old(self, now_ms: int) -> None:
        oldest_ms = now_ms - self._window_count * self._window_ms
        while self._windows and self._windows[0][0] <= oldest_ms:
            self._windows.popleft()


class ThrottledRate:
    """A limit in bytes per second, and how much has gone through lately."""

    def __init__(self, limit: Callable[[], int], rate: Rate) -> None:
        self._limit = limit
        self._rate = rate

    def is_exceeded(self, *, now_ms: int) -> bool:
        """Whether nothing more should go through for now."""
        return self._rate.per_second(now_ms=now_ms) > self._limit()

    def record(self, size: int, *, now_ms: int) -> None:
        """So many bytes went through."""
        self._rate.record(size, now_ms=now_ms)


class Throttle:
    """One side of replication on one broker."""

    def __init__(
        self,
        broker_id: int,
        replicas_of: Callable[[TopicConfig], Collection[str]],
        limit: Callable[[], int],
        rate: Rate,
    ) -> None:
        """`replicas_of` gives what a topic's settings list; `limit` the bytes per second."""
        self._broker_id = broker_id
        self._replicas_of = replicas_of
        self._pace = ThrottledRate(limit, rate)

    def holds_up(self, partition: Partition, *, now_ms: int) -> bool:
        """Whether a partition, unless its follower is in sync, has to wait."""
        return self.applies_to(partition) and self._pace.is_exceeded(now_ms=now_ms)

    def applies_to(self, partition: Partition) -> bool:
        """Whether what goes through for a partition counts."""
        listed = self._replicas_of(partition.log.config)
        if not listed:
            return False
        return (
            _ALL in listed or f"{partition.topic_partition.partition}:{self._broker_id}" in listed
        )

    def record(self, partition: Partition, size: int, *, now_ms: int) -> None:
        """So many bytes went through for a partition."""
        if size and self.applies_to(partition):
            self._pace.record(size, now_ms=now_ms)
