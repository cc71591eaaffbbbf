"""Pages of text over HTTP: metrics for Prometheus to fetch, and whether all is well."""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from moldau.net.listener import bind_host, listen

_log = logging.getLogger(__name__)

_REQUEST_MAX_BYTES = 16_384
_REQUEST_S = 5.0
_TURN_S = 0.005  # a page of thousands of partitions takes longer: others get their turn

Lines = Callable[[], Iterable[str]]
"""Makes the lines of a page, one after the other; between two of them anything may change."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is found under a path: the reason why it is not to be had, or the lines of it."""

    lines: Lines
    unavailable: Callable[[], str] = str
    """Why the answer is 503; empty: it is 200."""


class MetricsPage:
    """Answers GET for each path with its page, one request per connection."""

    def __init__(self, pages: dict[str, Page], *, host: str, port: int) -> None:
        self._pages = pages
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
            async with asyncio.timeout(_REQUEST_S):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.writelines(await self._response(request))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("a request for the metrics was cut off")
        finally:
            writer.close()

    async def _response(self, request: bytes) -> list[bytes]:
        method, _, rest = request.decode("latin-1").partition(" ")
        page = self._pages.get(rest.partition(" ")[0].partition("?")[0])
        if page is None:
            paths = ", ".join(self._pages)
            return _http("404 Not Found", [f"there is only {paths}\n".encode()])
        if method not in ("GET", "HEAD"):
            return _http("405 Method Not Allowed", [b"only GET\n"])
        reason = page.unavailable()
        if reason:
            status, body = "503 Service Unavailable", [f"{reason}\n".encode()]
        else:
            status, body = "200 OK", await _gathered(page.lines())
        return _http(status, body, has_body=method == "GET")


async def _gathered(lines: Iterable[str]) -> list[bytes]:
    """All lines, in pieces that were made in one turn each."""
    loop = asyncio.get_running_loop()
    pieces: list[bytes] = []
    piece: list[str] = []
    until_s = loop.time() + _TURN_S
    for line in lines:
        piece.append(line)
        if loop.time() >= until_s:
            pieces.append("".join(piece).encode())
            piece.clear()
            await asyncio.sleep(0)
            until_s = loop.time() + _TURN_S
    return [*pieces, "".join(piece).encode()]


def _http(status: str, body: list[bytes], *, has_body: bool = True) -> list[bytes]:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {sum(map(len, body))}\r\nConnection: close\r\n\r\n"
    )
    return [head.encode(), *(body if has_body else ())]
