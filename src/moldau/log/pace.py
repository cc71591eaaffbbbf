"""How fast work in the background may go, and whether it should stop."""

from collections.abc import Callable


class Cancelled(Exception):
    """The work is not wanted any more."""


class Pace:
    """Makes a worker wait so that it moves no more than so many bytes a second.

    Time, sleep and the wish to stop come from outside: the worker runs in a thread.
    """

    __slots__ = ("_bytes_per_second", "_is_cancelled", "_moved_bytes", "_now_s", "_sleep", "_start")

    def __init__(
        self,
        bytes_per_second: float,
        *,
        now_s: Callable[[], float],
        sleep: Callable[[float], object],
        is_cancelled: Callable[[], bool],
    ) -> None:
        """`bytes_per_second` may be infinite."""
        self._bytes_per_second = bytes_per_second
        self._now_s = now_s
        self._sleep = sleep
        self._is_cancelled = is_cancelled
        self._start = now_s()
        self._moved_bytes = 0

    def moved(self, size: int) -> None:
        """Count bytes that were read or written; wait as needed, or raise `Cancelled`."""
        if self._is_cancelled():
            raise Cancelled
        self._moved_bytes += size
        ahead_s = self._moved_bytes / self._bytes_per_second - (self._now_s() - self._start)
        if ahead_s > 0:
            self._sleep(ahead_s)
        elif ahead_s < -1:
            # Time that was not used is not saved up: at most one second's worth of bytes.
            self._start = self._now_s() - 1
            self._moved_bytes = 0


def unhurried() -> Pace:
    """No limit, and nothing stops the work."""
    return Pace(float("inf"), now_s=lambda: 0.0, sleep=lambda _: None, is_cancelled=lambda: False)
