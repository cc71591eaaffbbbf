"""Services with REST: asked at the addresses of the configuration, and at no others.

No redirect is followed, or a service could send the console to what only this machine reaches.
"""

import asyncio
import base64
import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit

from moldau.client.connection.refusal import why
from moldau.web.bodies import parse_json
from moldau.web.errors import WebError

_ANSWER_BYTES_MAX = 16 << 20
_PIECE_BYTES = 1 << 16
_AT_ONCE_MAX = 4
_MESSAGE_MAX = 2000
_REFUSED_HERE = (401, 403, 407)
_BAD_GATEWAY, _UNAVAILABLE, _SERVER_ERROR = 502, 503, 500
_ERROR = 400


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """What a service said."""

    status: int
    data: bytes


class RestService:
    """One service; name and password may be part of its address, and are never shown."""

    def __init__(self, url: str, *, timeout_s: float = 10.0) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise ValueError("no address such as http://host:port")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self._host, self._port = parts.hostname, port
        self._is_safe = parts.scheme == "https"
        self._base = parts.path.rstrip("/")
        self.address = f"{parts.scheme}://{host}{f':{port}' if port else ''}{self._base}"
        """For people: without the password."""
        self._headers = {"Accept": "application/json, */*;q=0.5"}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(_AT_ONCE_MAX)

    async def ask(
        self,
        method: str,
        *path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> object:
        """The JSON of an answer, None if it is empty; what it refuses is a WebError."""
        answer = await self.send(method, *path, body=body, query=query)
        if not answer.data.strip():
            return None
        try:
            return await parse_json(answer.data)
        except WebError as error:
            message = f"{self.address} answers no JSON: is it the right address?"
            raise WebError(_BAD_GATEWAY, message) from error

    async def send(
        self,
        method: str,
        *path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> RestAnswer:
        """The answer as it is; errors are refusals."""
        target = f"{self._base}/{'/'.join(_segment(each) for each in path)}"
        if query:
            target += f"?{urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        try:
            async with asyncio.timeout(2 * self._timeout_s), self._places:
                answer = await asyncio.to_thread(self._send, method, target, data)
        except (OSError, http.client.HTTPException) as error:
            # A TimeoutError is an OSError as well: of a socket, or of all requests before this.
            reason = "it took too long" if isinstance(error, TimeoutError) else why(error)
            message = f"{self.address} does not answer: {reason}"
            raise WebError(_UNAVAILABLE, message) from error
        if answer.status >= _ERROR:
            raise self._refusal(answer)
        return answer

    def _send(self, method: str, target: str, data: bytes | None) -> RestAnswer:
        end_s = time.monotonic() + self._timeout_s
        connection = self._connection()
        try:
            headers = dict(self._headers)
            if data is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            found = bytearray()
            while piece := answer.read(_PIECE_BYTES):
                found += piece
                if len(found) > _ANSWER_BYTES_MAX:
                    raise OSError(f"the answer is larger than {_ANSWER_BYTES_MAX} bytes")
                if time.monotonic() > end_s:
                    raise TimeoutError
            return RestAnswer(answer.status, bytes(found))
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._is_safe:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout_s, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def _refusal(self, answer: RestAnswer) -> WebError:
        try:
            message = str(json.loads(answer.data)["message"])
        except (ValueError, KeyError, TypeError, RecursionError):
            message = answer.data.decode(errors="replace").strip()
        message = message[:_MESSAGE_MAX] or f"HTTP {answer.status}"
        if answer.status in _REFUSED_HERE:
            return WebError(
                _BAD_GATEWAY,
                f"{self.address} refuses the console: {message}. "
                "Its address may have a name and a password: http://name:password@host",
            )
        status = answer.status if answer.status < _SERVER_ERROR else _BAD_GATEWAY
        return WebError(status, message)


def _segment(name: str) -> str:
    """A part of a path; two of them would lead elsewhere, however they are quoted."""
    if name in ("", ".", ".."):
        raise WebError(_ERROR, f"{name!r} is no name")
    return quote(name, safe="")


def object_in(value: object, *names: str) -> dict[str, object]:
    """An object within another; empty if there is none: services may say anything."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_in(value: object, *names: str) -> list[object]:
    """A list within objects; empty if there is none."""
    *outer, last = names or ("",)
    found = object_in(value, *outer).get(last) if names else value
    return found if isinstance(found, list) else []


def text_in(value: object, name: str) -> str:
    """A text within an object; empty if there is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
