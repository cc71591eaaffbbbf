"""A console beside a broker: a process of its own, so that scans never hold up the broker."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import moldau
from moldau.config.listeners import ListenerConfig, SecurityProtocol
from moldau.config.values import config_error

_log = logging.getLogger(__name__)

_START_S = 30.0
_STOP_S = 5.0


@asynccontextmanager
async def console_beside(listener: ListenerConfig, port: int) -> AsyncIterator[None]:
    """Run one for this machine while the block lasts; the port is that of the console."""
    if listener.protocol is not SecurityProtocol.PLAINTEXT:
        raise config_error(
            f"--console has no credentials for {listener.name}: start `moldau console "
            "--command-config FILE` beside this broker"
        )
    host = listener.host or "localhost"
    servers = f"{f'[{host}]' if ':' in host else host}:{listener.port}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "moldau", "console", "--ends-with-parent", "--log-level=warning"),
        *(f"--bootstrap-server={servers}", f"--port={port}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": _search_path()},
    )
    try:
        _log.info("the console is at %s", await _address(process))
        yield
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _STOP_S)
            except TimeoutError:
                process.kill()
                await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None, "it is a pipe"
    try:
        line = await asyncio.wait_for(process.stdout.readline(), _START_S)
    except TimeoutError:
        line = b""
    if not line:
        raise config_error("--console: it did not start; see above")
    return line.decode().strip()


def _search_path() -> str:
    """The child finds the same package, also where it is not installed."""
    sources = str(Path(moldau.__file__).parents[1])
    return os.pathsep.join(filter(None, (sources, os.environ.get("PYTHONPATH"))))
