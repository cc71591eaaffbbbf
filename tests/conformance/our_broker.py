"""Our broker as a process of its own, for clients that are not ours."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.apache.broker import free_port

TESTS = Path(__file__).resolve().parents[1]
SOURCES = TESTS.parent / "src"
_STOP_S = 30
# Large messages are part of what clients are tested with.
_SETTINGS = {"message.max.bytes": str(16 * 2**20), "num.partitions": "1"}


@dataclass(slots=True)
class OurBroker:
    """A broker that can be stopped, killed and started again on the same data and port."""

    directory: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    program: str = "moldau"
    """The module that is run; a test may have one that adds a fault."""
    _process: subprocess.Popen[str] | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log_directory(self) -> Path:
        return self.directory / "logs"

    def replica_directories(self) -> Iterator[Path]:
        """Where its partitions are, in all its log directories."""
        return self.directory.glob("*/*-*")

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def has_ended(self) -> bool:
        """Whether the process has come to an end by itself."""
        return self._process is None or self._process.poll() is not None

    def start(self) -> None:
        settings = {
            **_SETTINGS,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.log_directory),
            **self.settings,
        }
        overrides = [part for item in settings.items() for part in ("--override", "=".join(item))]
        # Where the system can, let the broker die with the test worker, whatever ends that.
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        self._process = subprocess.Popen(
            [*guard, sys.executable, "-m", self.program, "serve", *overrides],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{SOURCES}:{TESTS}"},
            text=True,
        )
        assert self._process.stderr is not None
        lines = []
        for line in self._process.stderr:
            lines.append(line)
            if re.search(r"\[KafkaServer id=\d+\] started", line):
                # What comes later goes where pytest shows it; a full pipe would block.
                _forward(self._process)
                return
        self._process.stderr.close()
        self.kill()
        raise RuntimeError("the broker did not start:\n" + "".join(lines))

    def stop(self) -> None:
        """Stop cleanly."""
        assert self._end(signal.SIGTERM) == 0

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        try:
            return process.wait(_STOP_S)
        finally:
            process.kill()
            process.wait()


@contextmanager
def our_broker(
    directory: Path, settings: Mapping[str, str] | None = None, program: str = "moldau"
) -> Iterator[OurBroker]:
    """A running broker that keeps its data under `directory`."""
    broker = OurBroker(directory, settings or {}, program=program)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


def _forward(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    stderr = process.stderr

    def copy() -> None:
        with stderr:
            for line in stderr:
                sys.stderr.write(line)

    threading.Thread(target=copy, daemon=True).start()
