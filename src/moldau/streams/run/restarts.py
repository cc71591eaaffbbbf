"""When a query that failed is started again: soon, then ever later, and not for ever."""

from collections import deque

DELAY_MIN_MS = 1_000
DELAY_MAX_MS = 60_000
RESTARTS_MAX = 10
WINDOW_MS = 600_000


class Restarts:
    """Counts failures: in a row, which a micro-batch that went well ends, and in a window of time.

    A query that fails more often than `restarts_max` within the window is given up. Brokers that
    are away for long do not come to that: clients wait for them, so failures are minutes apart.
    """

    def __init__(self, restarts_max: int = RESTARTS_MAX, window_ms: int = WINDOW_MS) -> None:
        self._restarts_max = restarts_max
        self._window_ms = window_ms
        self._failed_ms: deque[int] = deque()
        self._failures_in_a_row = 0
        self._due_ms: int | None = None

    def is_due(self, now_ms: int) -> bool:
        """Whether the query may be started now."""
        return self._due_ms is None or now_ms >= self._due_ms

    def note_failure(self, now_ms: int) -> int | None:
        """The query has failed; returns how long it has to wait, None if it is given up."""
        self._failed_ms.append(now_ms)
        while self._failed_ms[0] <= now_ms - self._window_ms:
            self._failed_ms.popleft()
        if len(self._failed_ms) > self._restarts_max:
            return None
        delay_ms = min(DELAY_MIN_MS << min(self._failures_in_a_row, 16), DELAY_MAX_MS)
        self._failures_in_a_row += 1
        self._due_ms = now_ms + delay_ms
        return delay_ms

    def note_success(self) -> None:
        """The query has done something."""
        self._failures_in_a_row = 0
