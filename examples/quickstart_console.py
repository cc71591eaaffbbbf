"""The web console beside the quickstart: a process of its own, which ends with it."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_STOP_S = 10


@contextmanager
def console_beside(bootstrap_servers: str) -> Iterator[str | None]:
    """Run a console while the block lasts, and yield its address; None if it is not installed."""
    needed = ("starlette", "uvicorn")
    if any(importlib.util.find_spec(name) is None for name in needed):
        yield None
        return
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "moldau", "console", "--ends-with-parent"),
            *("--log-level=warning", f"--bootstrap-server={bootstrap_servers}", "--port=0"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip() or None
    finally:
        process.stdin.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
