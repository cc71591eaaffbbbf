"""Bodies are taken in up to a size and a depth."""

import json

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.web.application import application
from moldau.web.bodies import parse_json, read_json
from moldau.web.errors import WebError
from moldau.web.nesting import DEPTH_MAX
from unit.web.requests import Asked, ask


async def echo(request: Request) -> Response:
    return JSONResponse(await read_json(request, max_bytes=5000))


APP = application([Route("/", echo, methods=["POST"])])


async def post(body: bytes, **headers: str) -> Asked:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await ask(APP, "POST", "/", body=body, headers=named)


async def test_a_body_is_read_from_its_pieces() -> None:
    value = {"text": "x" * 3000}
    assert json.loads((await post(json.dumps(value).encode())).body) == value


@pytest.mark.parametrize("declared", ["9000", "10", "none of your business"])
async def test_one_that_is_too_large_is_refused_whatever_it_claims(declared: str) -> None:
    answer = await post(b'"' + b"x" * 6000 + b'"', content_length=declared)
    assert answer.status == 413


async def test_what_is_no_json_is_refused() -> None:
    for body in (b"", b"{", b"\xff", b"nonsense"):
        assert (await post(body)).status == 400


async def test_a_form_is_not_read_even_if_it_looks_like_json() -> None:
    assert (await post(b"{}", content_type="text/plain")).status == 415
    assert (
        await post(b"{}", content_type="application/vnd.kafka+json; charset=utf8")
    ).status == 200


async def test_nesting_has_a_limit_that_the_stack_bears() -> None:
    deepest = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    assert await parse_json(deepest) is not None
    for text in (b"[" + deepest + b"]", b"[" * 10_000, b'{"a":' * 100_000):
        with pytest.raises(WebError, match="nested"):
            await parse_json(text)
