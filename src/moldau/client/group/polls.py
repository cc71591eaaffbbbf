"""Whether the user still works on records: `max.poll.interval.ms` without a poll says no."""

from collections.abc import Callable


class Polls:
    """When the user polled last; waiting for records counts as polling."""

    def __init__(self, interval_max_ms: int, now_ms: Callable[[], int]) -> None:
        self._interval_max_ms = interval_max_ms
        self._now_ms = now_ms
        self._polled_ms = now_ms()
        self._waiting_count = 0

    def begin(self) -> None:
        """The user waits for records."""
        self._waiting_count += 1

    def end(self) -> None:
        """The user does not wait any more."""
        self._waiting_count -= 1
        self.note()

    def note(self) -> None:
        """The user has records to work on, for no longer than the interval."""
        self._polled_ms = self._now_ms()

    @property
    def is_overdue(self) -> bool:
        """Whether nothing was polled for too long."""
        idle_ms = self._now_ms() - self._polled_ms
        return self._waiting_count == 0 and idle_ms > self._interval_max_ms
