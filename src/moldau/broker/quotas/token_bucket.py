"""Changes of topics that a client may make (KIP-599): a bucket that fills at the quota's pace.

It is full at first, and holds what the quota allows for all windows together. A change takes a
token for every partition, as long as there is not less than nothing; so the last one may take more
than there is, and the next has to wait until that is made up for.
"""

from moldau.broker.quotas.rates import Windows


class TokenBucket:
    """The changes that one user, one client, or one client of a user may still make."""

    __slots__ = ("_burst_s", "_filled_ms", "_tokens", "last_throttle_ms",
                 "last_throttled_ms", "quota", "used_ms")  # fmt: skip

    def __init__(self, quota: float, windows: Windows, now_ms: int) -> None:
        self.quota = quota
        self._burst_s = windows.samples * windows.size_ms / 1000
        self._tokens = quota * self._burst_s
        self._filled_ms = now_ms
        self.used_ms = now_ms
        self.last_throttle_ms = 0
        self.last_throttled_ms = now_ms

    def tokens(self, now_ms: int) -> float:
        """How many partitions may be changed now; less than none after too many."""
        gained = self.quota * (now_ms - self._filled_ms) / 1000
        self._tokens = min(self.quota * self._burst_s, self._tokens + gained)
        self._filled_ms = now_ms
        return self._tokens

    def take(self, count: int, now_ms: int) -> None:
        """So many are changed."""
        self.tokens(now_ms)
        self._tokens -= count
        self.used_ms = now_ms

    def wait_ms(self, now_ms: int) -> int:
        """After how long there is not less than nothing."""
        wait_ms = int(-self.tokens(now_ms) / self.quota * 1000 + 0.5)
        if wait_ms <= 0:
            return 0
        self.last_throttle_ms, self.last_throttled_ms = wait_ms, now_ms
        return wait_ms
