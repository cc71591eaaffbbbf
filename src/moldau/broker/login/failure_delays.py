"""How long clients wait that failed to log in, so that passwords cannot be guessed quickly.

Nothing of such a connection is read meanwhile. Many connections of one address wait longer, or
they would guess as often as there are of them; there is a limit to how many are kept waiting.
"""

import asyncio
from collections import Counter

_AT_ONCE = 8
"""Failures of one address that wait no longer than a single one."""
_LONGEST = 32
"""How many times the delay of a single one another waits at most."""
WAITING_MAX = _AT_ONCE * _LONGEST


class FailureDelays:
    """The connections of one broker that have failed and are not closed yet."""

    def __init__(self, delay_ms: int) -> None:
        """`delay_ms` is `connection.failed.authentication.delay.ms`."""
        self._delay_s = delay_ms / 1000
        self._waiting: Counter[str] = Counter()

    def waiting(self, host: str) -> int:
        """How many connections of an address wait."""
        return self._waiting[host]

    def delay_s(self, host: str) -> float:
        """How long the next failure from an address waits; 0 if too many wait already."""
        waiting = self._waiting[host]
        if waiting >= WAITING_MAX:
            return 0.0
        return self._delay_s * (1 + waiting // _AT_ONCE)

    async def wait(self, host: str) -> bool:
        """Wait; False, at once, if too many of this address wait already."""
        delay_s = self.delay_s(host)
        if not delay_s:
            return self._waiting[host] < WAITING_MAX
        self._waiting[host] += 1
        try:
            await asyncio.sleep(delay_s)
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host]
        return True
