"""A page of text over HTTP, for Prometheus to fetch."""

import asyncio
import logging
import socket
from collections.abc import Callable

_log = logging.getLogger(__name__)

_PATHS = ("/", "/metrics")
_REQUEST_MAX_BYTES = 16_384
_REQUEST_S = 5.0


class MetricsPage:
    """Answers GET with what `text` returns, one request per connection."""

    def __init__(self, text: Callable[[], str], *, port: int) -> None:
        self._text = text
        try:
            self._socket = socket.create_server(("", port))
        except OSError as error:
            raise OSError(error.errno, f"no metrics on port {port}: {error.strerror}") from error
        self.port: int = self._socket.getsockname()[1]

    async def serve(self) -> None:
        """Answer until cancelled."""
        server = await asyncio.start_server(
            self._answer, sock=self._socket, limit=_REQUEST_MAX_BYTES
        )
        async with server:
            await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_S):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._response(request))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("a request for the metrics was cut off")
        finally:
            writer.close()

    def _response(self, request: bytes) -> bytes:
        method, _, rest = request.decode("latin-1").partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if path not in _PATHS:
            return _http("404 Not Found", "there is only /metrics\n")
        if method not in ("GET", "HEAD"):
            return _http("405 Method Not Allowed", "only GET\n")
        return _http("200 OK", self._text(), has_body=method == "GET")


def _http(status: str, body: str, *, has_body: bool = True) -> bytes:
    data = body.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (data if has_body else b"")
