"""One page of metrics for all brokers: theirs, each with the label `broker`."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence

from moldau.net.metrics_page import Page
from moldau.supervisor.child import Child

_TIMEOUT_S = 4.0
_REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_COMMENTS = ("# HELP ", "# TYPE ")


class ClusterMetrics:
    """Fetches the brokers' pages when somebody asks for the one of the cluster."""

    def __init__(self, children: Sequence[Child]) -> None:
        self._children = children
        self._texts: dict[int, str] = {}

    def pages(self) -> dict[str, Page]:
        """The same pages as a broker has."""
        metrics = Page(self.lines, prepare=self.fetch)
        ready = Page(lambda: ["ok\n"], self.reason)
        alive = Page(lambda: ["ok\n"])
        return {
            "/": metrics,
            "/metrics": metrics,
            "/readyz": ready,
            "/healthz": alive,
            "/health": ready,
            "/health/ready": ready,
            "/health/live": alive,
        }

    def reason(self) -> str:
        """Which brokers are not up; empty: all are."""
        down = [str(child.broker_id) for child in self._children if not child.is_up.is_set()]
        return f"not up: broker {', '.join(down)}" if down else ""

    async def fetch(self) -> None:
        """Ask all brokers; one that does not answer has no metrics."""
        found = await asyncio.gather(*(_fetch(child.metrics_port) for child in self._children))
        texts = zip(self._children, found, strict=True)
        self._texts = {child.broker_id: text for child, text in texts if text}

    def lines(self) -> Iterator[str]:
        """The supervisor's own metrics, and all that the brokers have said."""
        yield from _family("moldau_broker_up", "gauge", "Whether the broker serves.")
        for child in self._children:
            yield f'moldau_broker_up{{broker="{child.broker_id}"}} {int(child.is_up.is_set())}\n'
        yield from _family("moldau_broker_restarts_total", "counter", "Starts after an early end.")
        for child in self._children:
            yield f'moldau_broker_restarts_total{{broker="{child.broker_id}"}} {child.restarts}\n'
        yield from merged(self._texts)


def merged(texts: Mapping[int, str]) -> Iterator[str]:
    """The lines of several pages as those of one: a family stands together, and is said once."""
    families: dict[str, dict[str, None]] = {}
    samples: dict[str, list[str]] = {}
    for broker_id, text in texts.items():
        name = ""
        for line in text.splitlines():
            if line.startswith(_COMMENTS):
                name = line.split(" ", 3)[2]
                families.setdefault(name, {})[line] = None
            elif line:
                samples.setdefault(name, []).append(labelled(line, broker_id))
    for name in families | samples:
        yield from (f"{line}\n" for line in _said_once(families.get(name, {})))
        yield from (f"{line}\n" for line in samples.get(name, ()))


def labelled(line: str, broker_id: int) -> str:
    """A sample with one more label."""
    name, brace, rest = line.partition("{")
    if brace and " " not in name:
        return f'{name}{{broker="{broker_id}",{rest}'
    name, _, value = line.partition(" ")
    return f'{name}{{broker="{broker_id}"}} {value}'


def _said_once(comments: Iterable[str]) -> list[str]:
    return list({line.split(" ", 2)[1]: line for line in comments}.values())


def _family(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}\n"
    yield f"# TYPE {name} {kind}\n"


async def _fetch(port: int | None) -> str:
    if port is None:
        return ""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(_REQUEST)
                answer = (await reader.read()).decode()
            finally:
                writer.close()
    except (OSError, TimeoutError, UnicodeDecodeError):
        return ""
    head, _, body = answer.partition("\r\n\r\n")
    return body if " 200 " in head.partition("\r\n")[0] else ""
