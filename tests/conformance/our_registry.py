"""Our schema registry as a process of its own, for clients that are not ours."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.our_broker import SOURCES, TESTS, OurBroker

_STOP_S = 30


@dataclass(slots=True)
class OurRegistry:
    """A registry that has started."""

    url: str
    _process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait()


@contextmanager
def our_registry(broker: OurBroker, *options: str, dies: bool = False) -> Iterator[OurRegistry]:
    """A running registry that keeps its schemas in this broker, until it is stopped or dies."""
    command = [sys.executable, "-m", "moldau", "registry", "--port", "0", *options]
    process = subprocess.Popen(
        [*command, "--bootstrap-server", broker.bootstrap, "--log-level", "info"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{SOURCES}:{TESTS}"},
        text=True,
    )
    with process:
        try:
            yield OurRegistry(_address(process), process)
            process.terminate()
            assert process.wait(_STOP_S) == 0 or dies
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    stderr, lines = process.stderr, []
    for line in stderr:
        lines.append(line)
        if found := re.search(r"the registry is at (\S+)", line):
            # What comes later goes where pytest shows it; a full pipe would block.
            threading.Thread(target=lambda: sys.stderr.writelines(stderr), daemon=True).start()
            return found.group(1)
    raise RuntimeError("the registry did not start:\n" + "".join(lines))
