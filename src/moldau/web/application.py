"""An application of routes whose errors are JSON."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from moldau.web.errors import WebError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

_log = logging.getLogger(__name__)

_INTERNAL = 500


def application(routes: "Sequence[BaseRoute]", content_type: str = "application/json") -> Starlette:
    """Routes; what they raise becomes an error of this content type, never a page of HTML."""

    def answer(error: WebError) -> Response:
        return JSONResponse(error.body(), error.status, media_type=content_type)

    def refused(_: "Request", error: Exception) -> Response:
        assert isinstance(error, WebError), "registered for these alone"
        return answer(error)

    def no_route(_: "Request", error: Exception) -> Response:
        assert isinstance(error, HTTPException), "registered for these alone"
        return answer(WebError(error.status_code, f"HTTP {error.status_code} {error.detail}"))

    def failed(request: "Request", error: Exception) -> Response:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return answer(WebError(_INTERNAL, "Internal Server Error"))

    return Starlette(
        routes=list(routes),
        exception_handlers={WebError: refused, HTTPException: no_route, Exception: failed},
    )
