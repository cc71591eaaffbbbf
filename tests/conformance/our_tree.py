"""Our tree as a process of its own, in ZooKeeper's place."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.apache.broker import free_port
from conformance.our_broker import SOURCES

_STOP_S = 30


@dataclass(slots=True)
class OurTree:
    """A server that can be stopped, killed and started again on the same data and port."""

    directory: Path
    settings: str = ""
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        file = self.directory / "zookeeper.properties"
        file.write_text(
            f"dataDir={self.directory}\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            f"tickTime=500\n{self.settings}"
        )
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        self._process = subprocess.Popen(
            [*guard, sys.executable, "-m", "moldau", "zookeeper", "--own", str(file)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            text=True,
        )
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "is served on" in line:
                return
        raise RuntimeError(f"the tree ended with code {self._process.wait()} while starting")

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.communicate(timeout=_STOP_S)
            self._process = None


@contextmanager
def our_tree(directory: Path, settings: str = "") -> Iterator[OurTree]:
    """A server under `directory`, started."""
    tree = OurTree(directory, settings)
    tree.start()
    try:
        yield tree
    finally:
        tree.kill()
