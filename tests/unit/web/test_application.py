"""Whatever goes wrong is said in JSON."""

import json
import logging

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from moldau.web.application import application
from moldau.web.errors import WebError
from unit.web.requests import ask

TYPE = "application/vnd.schemaregistry.v1+json"


async def refuse(request: Request) -> Response:
    raise WebError(422, "no schema", 42201)


async def fail(request: Request) -> Response:
    raise ZeroDivisionError("secret")


APP = application([Route("/refuse", refuse), Route("/fail", fail)], TYPE)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/refuse", 422, 42201), ("GET", "/none", 404, 404), ("POST", "/refuse", 405, 405)],
)
async def test_refusals_are_json_of_the_applications_type(
    method: str, path: str, status: int, code: int
) -> None:
    answer = await ask(APP, method, path)
    assert answer.status == status
    assert answer.headers["content-type"] == TYPE
    assert json.loads(answer.body)["error_code"] == code


async def test_a_failure_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    # Starlette raises it again for servers to see.
    with caplog.at_level(logging.ERROR), pytest.raises(ZeroDivisionError):
        await ask(APP, "GET", "/fail")
    assert "GET /fail failed" in caplog.text
