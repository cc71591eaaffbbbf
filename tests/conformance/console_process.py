"""A console as a process of its own, asked over HTTP, whose memory and time can be seen."""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

TIMEOUT_S = 60.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Told:
    """One answer."""

    status: int
    body: bytes
    seconds: float

    @property
    def said(self) -> Any:
        """What it says as JSON."""
        return json.loads(self.body)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it says line by line."""
        return [json.loads(each) for each in self.body.splitlines()]


@dataclass(frozen=True, slots=True)
class ConsoleProcess:
    """A console that runs, with one cluster called `local`."""

    url: str
    process_id: int

    @property
    def api(self) -> str:
        return f"{self.url}/api/clusters/local"

    def get(self, path: str, **query: object) -> Told:
        """Ask for something of the cluster."""
        return self.ask("GET", path, query)

    def document(self) -> Any:
        """How the API describes itself."""
        return self.send(urllib.request.Request(f"{self.url}/api/openapi.json")).said

    def ask(
        self,
        method: str,
        path: str,
        query: dict[str, object] | None = None,
        body: object = None,
        login: str = "",
    ) -> Told:
        """One request; a refusal is an answer, too."""
        url = f"{self.api}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if login:
            headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
        return self.send(urllib.request.Request(url, data, headers, method=method))

    def send(self, request: urllib.request.Request) -> Told:
        """A request that is made already."""
        began_s = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return Told(answer.status, answer.read(), time.monotonic() - began_s)
        except urllib.error.HTTPError as error:
            with error:
                return Told(error.code, error.read(), time.monotonic() - began_s)

    @contextmanager
    def stream(self, path: str, **query: object) -> Iterator["Stream"]:
        """A stream as a tab has it open."""
        url = f"{self.api}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            yield Stream(answer)

    @property
    def memory_mb(self) -> float:
        """What it has in memory now."""
        return self._memory("VmRSS")

    @property
    def most_memory_mb(self) -> float:
        """The most that it ever had."""
        return self._memory("VmHWM")

    def _memory(self, name: str) -> float:
        status = Path(f"/proc/{self.process_id}/status").read_text()
        (line,) = [each for each in status.splitlines() if each.startswith(f"{name}:")]
        return int(line.split()[1]) / 1024

    @property
    def cpu_s(self) -> float:
        """Processor time since it began."""
        parts = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / _TICKS_PER_S


class Stream:
    """Events of a tab's stream."""

    def __init__(self, answer: HTTPResponse) -> None:
        self._answer = answer

    def event(self, kind: str) -> Any:
        """What the next event of a kind says."""
        found, deadline_s = "", time.monotonic() + TIMEOUT_S
        while True:
            assert time.monotonic() < deadline_s, f"no event {kind}"
            line = self._answer.readline().decode()
            assert line, "the stream has ended"
            name, _, text = line.rstrip("\n").partition(": ")
            if name == "event":
                found = text
            elif name == "data" and found == kind:
                return json.loads(text)

    def until(self, kind: str, holds: Callable[[Any], object]) -> Any:
        """The next event of a kind of which something holds."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while True:
            said = self.event(kind)
            if holds(said):
                return said
            assert time.monotonic() < deadline_s, f"no such event, but {said}"


@contextmanager
def console_process(bootstrap_servers: str, *options: str) -> Iterator[ConsoleProcess]:
    """A console from its first address to its end."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "moldau", "console", "--ends-with-parent", "--port=0"),
            *("--log-level=warning", f"--bootstrap-server={bootstrap_servers}", *options),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, "the console did not start"
        yield ConsoleProcess(url, process.pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(look: Callable[[], object], what: str) -> Any:
    """What is seen, as soon as there is something to be seen."""
    deadline_s = time.monotonic() + TIMEOUT_S
    while not (found := look()):
        assert time.monotonic() < deadline_s, f"not in {TIMEOUT_S:g} s: {what}"
        time.sleep(0.05)
    return found
