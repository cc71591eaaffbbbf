"""When a query that failed is started again: at once, then ever later, up to a minute."""

DELAY_MIN_MS = 1_000
DELAY_MAX_MS = 60_000


class Restarts:
    """Counts failures in a row; a micro-batch that went well ends the row."""

    def __init__(self) -> None:
        self._failures_in_a_row = 0
        self._due_ms: int | None = None

    def is_due(self, now_ms: int) -> bool:
        """Whether the query may be started now."""
        return self._due_ms is None or now_ms >= self._due_ms

    def note_failure(self, now_ms: int) -> int:
        """The query has failed; returns how long it has to wait."""
        delay_ms = min(DELAY_MIN_MS << min(self._failures_in_a_row, 16), DELAY_MAX_MS)
        self._failures_in_a_row += 1
        self._due_ms = now_ms + delay_ms
        return delay_ms

    def note_success(self) -> None:
        """The query has done something."""
        self._failures_in_a_row = 0
