"""A bar that shows at a terminal how far the work is."""

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_WIDTH = 24
_PATIENCE_S = 0.5
_REDRAW_S = 0.1
_CLEAR = "\r\x1b[K"
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class Bar:
    """How much of the work is done; it appears when the work takes long."""

    def __init__(
        self,
        total: int | None,
        shown: Callable[[int], str],
        stream: TextIO,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._shown = shown
        self._stream = stream
        self._now_s = now_s
        self._start_s = now_s()
        self._redraw_s = self._start_s + _PATIENCE_S
        self._has_drawn = False
        self.done = 0

    def advance(self, amount: int) -> None:
        """Note that so much more is done."""
        self.done += amount
        now_s = self._now_s()
        if now_s >= self._redraw_s:
            self._redraw_s = now_s + _REDRAW_S
            self._has_drawn = True
            self._stream.write(_CLEAR + self._line(now_s - self._start_s))
            self._stream.flush()

    def clear(self) -> None:
        """Take the bar away: what is printed next stands on a line of its own."""
        if self._has_drawn:
            self._has_drawn = False
            self._stream.write(_CLEAR)
            self._stream.flush()

    def _line(self, elapsed_s: float) -> str:
        speed = f"{self._shown(round(self.done / elapsed_s))}/s"
        if not self._total:
            return f"{self._shown(self.done)}, {speed}"
        share = min(self.done / self._total, 1.0)
        bar = ("#" * int(share * _WIDTH)).ljust(_WIDTH, ".")
        left_s = round(elapsed_s / share - elapsed_s) if share else 0
        amount = f"{self._shown(self.done)} of {self._shown(self._total)}"
        return f"{bar} {share:4.0%}  {amount}, {speed}, {left_s // 60}:{left_s % 60:02} left"


@contextmanager
def progress_bar(
    total: int | None, shown: Callable[[int], str], *, prints_result: bool = False
) -> Iterator[Bar | None]:
    """A bar on standard error while work is done; None if that is no terminal.

    A result that is printed to a terminal shows by itself how far it is.
    """
    if not sys.stderr.isatty() or (prints_result and sys.stdout.isatty()):
        yield None
        return
    bar = Bar(total, shown, sys.stderr)
    try:
        yield bar
    finally:
        bar.clear()


def as_size(count: int) -> str:
    """An amount of bytes."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


def as_records(count: int) -> str:
    """An amount of records."""
    return f"{count:,} records"


def size_of(descriptor: int) -> int | None:
    """How much a file has, if it is one."""
    status = os.fstat(descriptor)
    return status.st_size if stat.S_ISREG(status.st_mode) else None
