"""Tables over HTTP: their rows as JSON, for programs that are not in Python.

GET /tables                        what there is
GET /tables/counts/moldau          the value of one key
GET /tables/counts?after=a&limit=9 rows in the order of their keys
GET /tables/visits?windows_of=anna the windows of one key
"""

import asyncio
import json
import logging
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from moldau.client.blocking.loop_thread import LoopThread
from moldau.streams.queries.values import as_json
from moldau.streams.queries.view import TableView
from moldau.streams.serdes import PlainColumnSerde, Serde, WindowedSerde

_log = logging.getLogger(__name__)

_REQUEST_MAX_BYTES = 16_384
_REQUEST_S = 5.0
_CONNECTIONS_MAX = 64


class TableServer:
    """Answers on the loopback address unless another is given; at most 64 requests at a time."""

    def __init__(
        self, tables: Mapping[str, TableView], *, port: int, host: str = "127.0.0.1"
    ) -> None:
        self._tables = dict(tables)
        self._socket = socket.create_server((host, port))
        self.port: int = self._socket.getsockname()[1]
        self._places = asyncio.Semaphore(_CONNECTIONS_MAX)
        self._thread = LoopThread("moldau-tables")
        self._server = self._thread.call(self._start())

    def close(self) -> None:
        """Answer no requests any more; views are their owner's to close."""
        if not self._thread.is_closed:
            self._thread.call(self._stop())
            self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, sock=self._socket, limit=_REQUEST_MAX_BYTES)

    async def _stop(self) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._places, asyncio.timeout(_REQUEST_S):
                request = await reader.readuntil(b"\r\n\r\n")
                method, target, *_ = request.decode("latin-1").split(" ", 2)
                status, body = await asyncio.to_thread(self.answer, method, target)
                writer.write(_response(status, body))
                await writer.drain()
        except (TimeoutError, OSError, ValueError, EOFError, asyncio.LimitOverrunError):
            _log.debug("a request for a table was cut off")
        finally:
            writer.close()

    def answer(self, method: str, target: str) -> tuple[str, object]:
        """The status and the JSON of an answer."""
        if method != "GET":
            return "405 Method Not Allowed", {"error": "only GET"}
        address = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        match [unquote(part) for part in address.path.split("/") if part]:
            case ["tables"]:
                return "200 OK", [self._summary(name) for name in sorted(self._tables)]
            case ["tables", name, *key] if name in self._tables:
                try:
                    return _rows(self._tables[name], "/".join(key), asked)
                except (ValueError, TypeError) as error:
                    return "400 Bad Request", {"error": str(error)}
                except RuntimeError as error:
                    return "503 Service Unavailable", {"error": f"{error}: {error.__cause__}"}
        return "404 Not Found", {"error": "ask for /tables, /tables/NAME or /tables/NAME/KEY"}

    def _summary(self, name: str) -> object:
        view = self._tables[name]
        try:
            return {"name": name, "topic": view.topic, "keys": len(view)}
        except RuntimeError as error:
            return {"name": name, "topic": view.topic, "error": str(error)}


def _rows(view: TableView, key: str, asked: Mapping[str, str]) -> tuple[str, object]:
    limit = int(asked.get("limit", "100"))
    if key:
        wanted = from_text(view.key_serde, key)
        value = view.get(wanted)
        if value is None:
            return "404 Not Found", {"error": f"there is no key {key!r}"}
        return "200 OK", {"key": as_json(wanted), "value": as_json(value)}
    if "windows_of" in asked and isinstance(view.key_serde, WindowedSerde):
        inner = from_text(view.key_serde.inner, asked["windows_of"])
        found = view.windows(inner, limit=limit)
    else:
        after = from_text(view.key_serde, asked["after"]) if "after" in asked else None
        found = view.rows(after=after, limit=limit)
    return "200 OK", [{"key": as_json(key), "value": as_json(value)} for key, value in found]


def from_text(serde: Serde, text: str) -> object:
    """A key as it stands in an address: a number, text, or JSON."""
    match serde:
        case PlainColumnSerde("string"):
            return text
        case PlainColumnSerde("bytes"):
            return text.encode()
        case _:
            return json.loads(text)


def _response(status: str, body: object) -> bytes:
    data = json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + data
