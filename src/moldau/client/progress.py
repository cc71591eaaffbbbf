"""A line that shows how far a long read is, for people who wait at a terminal."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

_QUIET_S = 1.0
_INTERVAL_S = 0.2
_WIDTH = 30


def terminal() -> TextIO | None:
    """Where the line can be shown; None without a terminal."""
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None


class Progress:
    """Shows the part that is done, once it takes a while; erased in the end."""

    def __init__(
        self, total: int, output: TextIO | None, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._output = output
        self._now_s = now_s
        self._done = 0
        self._next_s = now_s() + _QUIET_S
        self._is_shown = False

    def add(self, count: int) -> None:
        """So much more is done."""
        self._done += count
        if self._output is None or self._now_s() < self._next_s:
            return
        self._next_s = self._now_s() + _INTERVAL_S
        part = min(self._done / max(self._total, 1), 1.0)
        bar = "#" * round(part * _WIDTH)
        self._output.write(f"\r[{bar:<{_WIDTH}}] {part:4.0%} {self._done:,} of {self._total:,}")
        self._output.flush()
        self._is_shown = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._output is not None and self._is_shown:
            self._output.write("\r\x1b[K")
            self._output.flush()
