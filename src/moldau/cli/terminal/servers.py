"""Servers of this installation that run, by their command lines, and how they are stopped."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from moldau.cli.terminal.failure import CommandFailed
from moldau.supervisor.child import UNTIL_INPUT_ENDS

_PROCESSES = Path("/proc")
_BROKERS = ("serve", "server-start", "kafka-server-start", "kafka-server-start.sh")
_TREES = ("zookeeper", "zookeeper-server-start", "zookeeper-server-start.sh")
_MARK = "-Dmoldau.python="

IsServer = Callable[[Sequence[str]], bool]


def mark() -> str:
    """The option by which a Java process shows to which installation it belongs."""
    return f"{_MARK}{sys.executable}"


def is_broker(words: Sequence[str]) -> bool:
    """Whether a command line is that of a broker which this Python runs."""
    # One that a supervisor has started is stopped by it, in its turn.
    return _is_ours(words, _BROKERS) and UNTIL_INPUT_ENDS not in words


def is_zookeeper(words: Sequence[str]) -> bool:
    """Whether a command line is that of a server which `moldau zookeeper` is or became."""
    return mark() in words or _is_ours(words, _TREES)


def _is_ours(words: Sequence[str], commands: Sequence[str]) -> bool:
    python, *rest = words or [""]
    if python != sys.executable and shutil.which(python) != sys.executable:
        return False
    if rest[:2] == ["-m", "moldau"]:
        del rest[0]
    return len(rest) > 1 and os.path.basename(rest[0]) == "moldau" and rest[1] in commands


def stop_servers(kind: str, is_server: IsServer) -> int:
    """Send every such server of this user the signal that SIGNAL names; returns the exit code."""
    name = os.environ.get("SIGNAL") or "TERM"
    number = getattr(signal, f"SIG{name.removeprefix('SIG')}", None)
    if number is None:
        raise CommandFailed(f"SIGNAL: there is no signal {name}")
    found = [process for process, words in processes() if is_server(words)]
    for process in found:
        os.kill(process, number)
    if not found:
        print(f"No {kind} server to stop")
    return 0 if found else 1


def processes() -> Iterator[tuple[int, list[str]]]:
    """The processes of this user with the words of their command lines."""
    if not _PROCESSES.is_dir():
        command = ["ps", "-u", str(os.getuid()), "-ww", "-o", "pid=", "-o", "args="]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        for line in done.stdout.splitlines():
            process, *words = line.split()
            yield int(process), words
        return
    for path in _PROCESSES.iterdir():
        try:
            if path.name.isdigit() and path.stat().st_uid == os.getuid():
                yield int(path.name), (path / "cmdline").read_text().split("\0")[:-1]
        except OSError:
            continue  # it has ended
