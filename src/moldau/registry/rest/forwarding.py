"""Passes a write on to the registry that leads, and its answer back."""

import asyncio
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from moldau.client.connection.refusal import why
from moldau.registry.failures import RegistryRefused
from moldau.registry.rest.answers import CONTENT_TYPE, OFFSET_HEADER

if TYPE_CHECKING:
    from starlette.requests import Request

FORWARDED = "x-forward"
_TIMEOUT_S = 30.0
_AT_ONCE_MAX = 16
_ANSWER_MAX_BYTES = 16 * 2**20
_PASSED_ON = ("content-type", "accept", "authorization")


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What the leader answered."""

    response: Response
    offset: int
    """What this one has to have read before the answer holds here too; -1: nothing."""


class Forwarding:
    """Asks the leader, a few requests at a time."""

    def __init__(self, trusted: str | None = None) -> None:
        """`trusted` is a file with authorities for TLS, besides those of the system."""
        self._context = ssl.create_default_context(cafile=trusted)
        self._turns = asyncio.Semaphore(_AT_ONCE_MAX)

    async def forward(self, request: "Request", leader: str, body: bytes) -> Forwarded:
        """The leader's answer, whatever it is; 50003 if it gives none."""
        query = f"?{request.url.query}" if request.url.query else ""
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        path = request.scope["raw_path"].decode("ascii")
        asked = urllib.request.Request(  # noqa: S310 - the address of a registry
            f"{leader}{path}{query}",
            body or None,
            {**headers, FORWARDED: "true"},
            method=request.method,
        )
        async with self._turns:
            return await asyncio.to_thread(self._ask, asked)

    def _ask(self, asked: urllib.request.Request) -> Forwarded:
        try:
            with urllib.request.urlopen(  # noqa: S310 - the address of a registry
                asked, timeout=_TIMEOUT_S, context=self._context
            ) as found:
                offset = int(found.headers.get(OFFSET_HEADER, "-1"))
                return Forwarded(_response(found.status, found.read(_ANSWER_MAX_BYTES)), offset)
        except urllib.error.HTTPError as error:
            with error:
                return Forwarded(_response(error.code, error.read(_ANSWER_MAX_BYTES)), -1)
        except (OSError, ValueError) as error:
            message = f"Error while forwarding the request to the leader: {why(error)}"
            raise RegistryRefused(50003, message) from error


def _response(status: int, body: bytes) -> Response:
    return Response(body, status, media_type=CONTENT_TYPE)
