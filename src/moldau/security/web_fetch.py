"""Reads small documents from identity providers: bounded in time and size, from one host alone."""

import ssl
import time
from collections.abc import Callable
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

DOCUMENT_MAX_BYTES = 1_048_576
_PIECE_BYTES = 65_536


class FetchFailed(Exception):
    """There is no such document; the message does not repeat what was said instead."""


class _NoRedirects(HTTPRedirectHandler):
    """Another host might be one that only this machine can reach."""

    def redirect_request(self, *_arguments: object, **_options: object) -> None:
        return None


def fetch(
    request: Request,
    *,
    timeout_s: float,
    context: ssl.SSLContext | None = None,
    now_s: Callable[[], float] = time.monotonic,
) -> bytes:
    """The body of an answer; blocks, so it is called in a thread."""
    opener = build_opener(_NoRedirects, HTTPSHandler(context=context))
    end_s = now_s() + timeout_s
    body = bytearray()
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            while piece := answer.read(_PIECE_BYTES):
                body += piece
                if len(body) > DOCUMENT_MAX_BYTES:
                    raise FetchFailed("the answer is too long")
                if now_s() > end_s:
                    raise FetchFailed("the answer did not come in time")
    except HTTPError as error:
        error.close()
        raise FetchFailed(f"the answer is {error.code}") from None
    except (URLError, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise FetchFailed(str(reason)) from None
    return bytes(body)
