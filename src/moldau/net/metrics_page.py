"""Pages of text over HTTP: metrics for Prometheus to fetch, and whether all is well."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from moldau.net.listener import bind_host, listen
from moldau.runtime.turns import Turns

_log = logging.getLogger(__name__)

_REQUEST_MAX_BYTES = 16_384
_TIMEOUT_S = 5.0

Lines = Callable[[], Iterable[str]]
"""Makes the lines of a page, one after the other; between two of them anything may change."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is found under a path: the reason why it is not to be had, or the lines of it."""

    lines: Lines
    unavailable: Callable[[], str] = str
    """Why the answer is 503; empty: it is 200."""
    prepare: Callable[[], Awaitable[None]] | None = None
    """Awaited before the lines are made."""


class MetricsPage:
    """Answers GET for each path with its page, one request per connection."""

    def __init__(
        self, pages: dict[str, Page], *, host: str, port: int, timeout_s: float = _TIMEOUT_S
    ) -> None:
        """`timeout_s` is for the whole exchange, until the last byte is taken."""
        self._pages = pages
        self._timeout_s = timeout_s
        self._turns = Turns()
        try:
            self._sockets: list[socket.socket] = bind_host(host, port, listen)
        except OSError as error:
            raise OSError(error.errno, f"no metrics on port {port}: {error.strerror}") from error
        self.port: int = self._sockets[0].getsockname()[1]

    async def serve(self) -> None:
        """Answer until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for listening in self._sockets:
                tasks.create_task(self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        server = await asyncio.start_server(self._answer, sock=listening, limit=_REQUEST_MAX_BYTES)
        async with server:
            await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._response(request))
                writer.close()
                await writer.wait_closed()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("a request for the metrics was cut off")
        finally:
            writer.transport.abort()  # closing would wait for what may never be read

    async def _response(self, request: bytes) -> bytes:
        method, _, rest = request.decode("latin-1").partition(" ")
        page = self._pages.get(rest.partition(" ")[0].partition("?")[0])
        if page is None:
            paths = ", ".join(self._pages)
            return _http("404 Not Found", f"there is only {paths}\n")
        if method not in ("GET", "HEAD"):
            return _http("405 Method Not Allowed", "only GET\n")
        reason = page.unavailable()
        if reason:
            return _http("503 Service Unavailable", f"{reason}\n", has_body=method == "GET")
        if page.prepare is not None:
            await page.prepare()
        # A page of thousands of partitions takes longer than a turn.
        lines = [line async for line in self._turns.each(page.lines())]
        return _http("200 OK", "".join(lines), has_body=method == "GET")


def _http(status: str, body: str, *, has_body: bool = True) -> bytes:
    data = body.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (data if has_body else b"")
