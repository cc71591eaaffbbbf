"""Programs, mostly in other languages, that answer JSON requests, a line each."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_RUN_S = 60
_TESTS = Path(__file__).resolve().parents[2]


@contextmanager
def talking(command: list[str]) -> Iterator[Callable[[object], Any]]:
    """A running program, to be called with requests; without more of them it has to end well."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": str(_TESTS)},
            text=True,
        ) as process,
    ):

        def ask(request: object) -> Any:
            line = _exchange(process, json.dumps(request))
            assert line, _text_of(errors)
            return json.loads(line)

        try:
            yield ask
            process.communicate(timeout=_RUN_S)
            assert process.returncode == 0, _text_of(errors)
        finally:
            process.kill()


def call(command: list[str], request: object) -> Any:
    """Run a program on one request."""
    with talking(command) as ask:
        return ask(request)


def _exchange(process: subprocess.Popen[str], request: str) -> str:
    """One line for another; nothing if the program has ended or takes too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    watchdog = threading.Timer(_RUN_S, process.kill)
    watchdog.start()
    try:
        process.stdin.write(request + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    finally:
        watchdog.cancel()


def _text_of(errors: Any) -> str:
    errors.seek(0)
    text: str = errors.read()
    return text
