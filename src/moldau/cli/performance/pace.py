"""No more than so many records per second."""

import time
from collections.abc import Callable


class RecordPace:
    """Says how long to wait before the next record; a rate below 0 is none."""

    def __init__(self, per_second: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._now_s = now_s
        self._start_s = now_s()

    def wait_s(self, count: int) -> float:
        """How long until `count` records may have been sent; 0 if that is so already."""
        if self._per_second < 0:
            return 0.0
        due_s = self._start_s + count / self._per_second
        return max(due_s - self._now_s(), 0.0)
