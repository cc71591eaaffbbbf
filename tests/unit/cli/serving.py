"""`moldau serve` as a process, for the tests of what it does."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moldau.cli import serve

STOP_S = 20
SOURCES = Path(serve.__file__).parents[2]


class Process:
    """`moldau serve` as a process of its own; its lines are read as they come."""

    def __init__(self, *arguments: str, home: Path) -> None:
        self.lines: list[str] = []
        environment = {**os.environ, "PYTHONPATH": str(SOURCES), "XDG_DATA_HOME": str(home)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "moldau", "serve", *arguments],
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def line(self, pattern: str) -> re.Match[str]:
        """The next line that matches."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"no {pattern!r} in {self.lines}")

    @property
    def bootstrap_servers(self) -> str:
        port = self.line(r"listening on port (\d+)")[1]
        return f"127.0.0.1:{port}"

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(STOP_S)


@contextmanager
def served(*arguments: str, home: Path) -> Iterator[Process]:
    running = Process(*arguments, home=home)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        assert running.process.stderr is not None
        running.process.stderr.close()
