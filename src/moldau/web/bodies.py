"""Bodies of requests: JSON, and never more or deeper than this process can bear."""

import asyncio
import json

from starlette.requests import Request

from moldau.web.errors import WebError
from moldau.web.nesting import DEPTH_MAX, depth

_LARGE_BYTES = 100_000
_BAD_REQUEST, _TOO_LARGE, _UNSUPPORTED = 400, 413, 415


async def read_body(request: Request, max_bytes: int) -> bytes:
    """The whole body; 413 as soon as it is longer than that, so that no more is taken in."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(found)


async def read_json(request: Request, max_bytes: int) -> object:
    """The value of a body; 400 if it is no JSON, 415 if it claims to be something else."""
    check_json(request)
    return await parse_json(await read_body(request, max_bytes))


def check_json(request: Request) -> None:
    """415 if a body claims to be something else than JSON.

    Browsers send forms and plain text to any address without asking; they do not send JSON.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not kind.endswith(("json", "octet-stream")):
        raise WebError(_UNSUPPORTED, f"HTTP 415 Unsupported Media Type: {kind}")


async def parse_json(data: bytes) -> object:
    """The value of a text, found in a thread if it is long; 400 if it is none."""
    if len(data) > _LARGE_BYTES:
        return await asyncio.to_thread(_parse, data)
    return _parse(data)


def _parse(data: bytes) -> object:
    try:
        text = data.decode()
        if depth(text) > DEPTH_MAX:
            raise WebError(_BAD_REQUEST, f"JSON is nested deeper than {DEPTH_MAX}")
        found: object = json.loads(text)
    except ValueError as error:
        raise WebError(_BAD_REQUEST, f"no JSON: {error}") from error
    return found


def _too_large(max_bytes: int) -> WebError:
    return WebError(_TOO_LARGE, f"the body is larger than {max_bytes} bytes")
