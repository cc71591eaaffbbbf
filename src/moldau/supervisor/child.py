"""A broker as a process of its own: started, listened to, started again, and stopped."""

import asyncio
import logging
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moldau.config.properties import format_properties
from moldau.supervisor.backing_off import BackingOff
from moldau.supervisor.log_lines import marked

_log = logging.getLogger(__name__)

_STARTED = "started"
_STOP_S = 60.0
_LINE_MAX_BYTES = 2**20
_PRIVATE = 0o600
_HEAD = " Written at each start of `moldau serve --brokers`."
UNTIL_INPUT_ENDS = "--until-input-ends"
SHARED_PORT = "--shared-port"
_METRICS = re.compile(r"metrics for Prometheus on http://\S+:(\d+)/metrics")


@dataclass(slots=True)
class Child:
    """One broker's process, and the next one when that has died."""

    broker_id: int
    properties: Path
    options: Sequence[str]
    died: Callable[[int], None]
    """Called with the broker's id as soon as its process has ended by itself."""
    sockets: Sequence[int] = ()
    """Descriptors that it inherits."""
    is_up: asyncio.Event = field(default_factory=asyncio.Event)
    restarts: int = 0
    metrics_port: int | None = None
    _process: Process | None = None
    _is_stopping: bool = False

    async def run(self) -> None:
        """Keep it running until it is stopped."""
        backing_off = BackingOff()
        loop = asyncio.get_running_loop()
        while True:
            began_s = loop.time()
            code = await self._live()
            self.is_up.clear()
            self.metrics_port = None
            if self._is_stopping:
                return
            self.died(self.broker_id)
            wait_s = backing_off.after(loop.time() - began_s)
            self.restarts += 1
            _log.warning(
                "broker %d has ended %s: it is started again in %.1f s",
                self.broker_id,
                _how(code),
                wait_s,
            )
            await asyncio.sleep(wait_s)

    async def stop(self) -> None:
        """Stop it cleanly, or by force after a minute."""
        self._is_stopping = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_S):
                await process.wait()
        except TimeoutError:
            _log.warning("broker %d has not stopped in %.0f s: killed", self.broker_id, _STOP_S)
            process.kill()
            await process.wait()

    def kill(self) -> None:
        """End it at once: the next start recovers."""
        self._is_stopping = True
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def _live(self) -> int:
        # It ends when this end of its standard input does, however this process may end.
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "moldau",
            "serve",
            str(self.properties),
            UNTIL_INPUT_ENDS,
            *self.options,
            stdin=PIPE,
            stderr=PIPE,
            limit=_LINE_MAX_BYTES,
            pass_fds=self.sockets,
            start_new_session=True,
        )
        assert process.stderr is not None
        await self._relay(process.stderr)
        return await process.wait()

    async def _relay(self, stream: asyncio.StreamReader) -> None:
        started = f"[KafkaServer id={self.broker_id}] {_STARTED}"
        while True:
            try:
                line = (await stream.readline()).decode(errors="replace")
            except ValueError:  # a line of more than can be held
                continue
            if not line:
                return
            if started in line:
                self.is_up.set()
            elif found := _METRICS.search(line):
                self.metrics_port = int(found[1])
                continue  # for the supervisor alone: it has a page of all brokers
            sys.stderr.write(f"{marked(line.rstrip(), self.broker_id)}\n")


def _how(code: int) -> str:
    """How a process has ended, by its exit code."""
    return f"with code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"


def shared_option(port: int | None, descriptors: Sequence[int]) -> list[str]:
    """How a broker learns which descriptors listen on the port that all of them share."""
    return [] if port is None else [SHARED_PORT, f"{port}={','.join(map(str, descriptors))}"]


def write_properties(path: Path, texts: dict[str, str]) -> None:
    """A file that only this user can read: there may be passwords in it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(format_properties(texts, [_HEAD]))
