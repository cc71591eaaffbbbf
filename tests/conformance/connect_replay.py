"""Replays REST calls that Apache Kafka Connect 3.9.2 answered, against a worker of ours.

`connect/rest_calls.jsonl` has the calls in order, with Apache's answers; what differs from run
to run, its address and directory, is written as a name in braces.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CALLS = Path(__file__).parent / "connect" / "rest_calls.jsonl"
_DEADLINE_S = 20
_SETTLED = {"RUNNING", "PAUSED", "STOPPED"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker said."""

    status: int
    location: str | None
    body: object


def recorded() -> list[dict[str, object]]:
    """All calls."""
    return [json.loads(line) for line in CALLS.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class Replay:
    """A worker of ours, and the files that connectors use."""

    url: str
    directory: str

    def filled(self, text: str) -> str:
        names = {"url": self.url, "directory": self.directory, "worker": self.url[len("http://") :]}
        for name, value in names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def ask(self, call: Mapping[str, object]) -> Answer:
        """Send a call as it was recorded."""
        body = call.get("body")
        data = None if body is None else self.filled(json.dumps(body)).encode()
        if "raw" in call:
            data = str(call["raw"]).encode()
        headers = call.get("headers") or {"Content-Type": "application/json"}
        assert isinstance(headers, dict)
        request = urllib.request.Request(
            self.url + str(call["path"]), data, headers, method=str(call["method"])
        )
        try:
            with urllib.request.urlopen(request, timeout=_DEADLINE_S) as found:
                return Answer(found.status, found.headers["Location"], _parsed(found.read()))
        except urllib.error.HTTPError as error:
            return Answer(error.code, None, _parsed(error.read()))

    def settle(self) -> None:
        """Wait until every connector and task is in a state that lasts."""
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            found = self.ask({"method": "GET", "path": "/connectors?expand=status"}).body
            if all(_is_settled(each) for each in _values(found)):
                return
            assert time.monotonic() < deadline, found
            time.sleep(0.05)


def _is_settled(entry: object) -> bool:
    status = entry.get("status") if isinstance(entry, dict) else None
    if not isinstance(status, dict):
        return False
    state = status["connector"]["state"]
    tasks = [each["state"] for each in status["tasks"]]
    if state == "STOPPED":
        return not tasks
    return state in _SETTLED and tasks != [] and set(tasks) == {state}


def _values(found: object) -> Iterator[object]:
    assert isinstance(found, dict)
    yield from found.values()


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()
