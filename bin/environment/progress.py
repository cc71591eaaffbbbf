"""What the user sees while an environment is made."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

BAR_WIDTH = 24
PLAIN_LINE_EVERY_S = 5.0


class Progress:
    """Numbered steps: a moving bar in a terminal, plain lines elsewhere.

    Everything goes to standard error: standard output belongs to the command
    that waits for the environment.
    """

    def __init__(self, steps: int, stream: TextIO = sys.stderr) -> None:
        self._steps = steps
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._index = 0
        self._name = ""
        self._last_line_at = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator["Progress"]:
        """Show one step from its start to its end."""
        self._index += 1
        self._name = name
        started_at = time.monotonic()
        self._show(0.0, name)
        yield self
        self._line(f"{self._label()} {name} ({time.monotonic() - started_at:.1f} s)")

    def at(self, fraction: float, detail: str) -> None:
        """Say how far the present step is."""
        is_due = time.monotonic() - self._last_line_at >= PLAIN_LINE_EVERY_S
        if self._is_terminal or is_due:
            self._show(fraction, f"{self._name}: {detail}")

    def say(self, message: str) -> None:
        """A line that stays."""
        self._line(message)

    def _label(self) -> str:
        return f"[{self._index}/{self._steps}]"

    def _show(self, fraction: float, text: str) -> None:
        done = (self._index - 1 + min(fraction, 1.0)) / self._steps
        if self._is_terminal:
            bar = ("#" * int(done * BAR_WIDTH)).ljust(BAR_WIDTH, ".")
            columns = shutil.get_terminal_size().columns - 1  # a wrapped line could not be redrawn
            self._stream.write("\r\x1b[K" + f"{bar} {done:4.0%} {text}"[:columns])
            self._stream.flush()
        elif fraction > 0:
            self._line(f"{self._label()} {done:4.0%} {text}")

    def _line(self, text: str) -> None:
        clear = "\r\x1b[K" if self._is_terminal else ""
        self._stream.write(f"{clear}{text}\n")
        self._stream.flush()
        self._last_line_at = time.monotonic()
