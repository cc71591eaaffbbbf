"""An application is served on an address of ours, with and without TLS."""

import asyncio
import json
import ssl
import urllib.request
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from certificates import authority, identity
from moldau.web.application import application
from moldau.web.server import Binding, serving


async def hello(request: Request) -> Response:
    return JSONResponse("hello")


APP = application([Route("/", hello)])


def fetch(url: str, context: ssl.SSLContext | None = None) -> object:
    with urllib.request.urlopen(url, context=context, timeout=10) as answer:
        return json.load(answer)


async def test_it_is_served_while_the_block_lasts() -> None:
    async with serving(APP, Binding(0)) as url:
        assert url.startswith("http://localhost:")
        assert await asyncio.to_thread(fetch, url) == "hello"
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(fetch, url)


async def test_tls_is_spoken_with_a_certificate(tmp_path: Path) -> None:
    trusted = authority()
    certificate = identity(trusted, "localhost").write(tmp_path / "server.pem")
    trusting = ssl.create_default_context(cadata=trusted.certificate_pem)
    async with serving(APP, Binding(0, certificate=certificate)) as url:
        assert url.startswith("https://")
        assert await asyncio.to_thread(fetch, url, trusting) == "hello"


async def test_a_port_that_is_taken_is_said() -> None:
    async with serving(APP, Binding(0)) as url:
        taken = int(url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            async with serving(APP, Binding(taken)):
                pass


async def test_a_certificate_that_is_not_there_is_said_before_anything_starts() -> None:
    with pytest.raises(OSError, match="none"):
        async with serving(APP, Binding(0, certificate="/none.pem")):
            pass


def test_an_address_for_all_is_reached_by_the_machines_name() -> None:
    assert not Binding(0, host="0.0.0.0").is_loopback
    assert "0.0.0.0" not in Binding(0, host="0.0.0.0").url(1)
    assert Binding(0, host="::1").url(1) == "http://[::1]:1"
