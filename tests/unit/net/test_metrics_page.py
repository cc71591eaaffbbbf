"""A page of text over HTTP, for Prometheus to fetch."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from moldau.net.metrics_page import MetricsPage


@pytest.fixture
async def page() -> AsyncIterator[MetricsPage]:
    page = MetricsPage(lambda: "answer 42\n", port=0)
    serving = asyncio.create_task(page.serve())
    yield page
    serving.cancel()


async def ask(page: MetricsPage, request: bytes) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    writer.write(request)
    if not request.endswith(b"\r\n\r\n"):
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer.decode()


async def test_the_text_is_served_as_prometheus_expects_it(page: MetricsPage) -> None:
    answer = await ask(page, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\n")
    assert "Content-Type: text/plain; version=0.0.4" in head
    assert "Content-Length: 10" in head
    assert body == "answer 42\n"


async def test_head_gets_no_body(page: MetricsPage) -> None:
    answer = await ask(page, b"HEAD /metrics?x=1 HTTP/1.1\r\n\r\n")
    assert answer.endswith("\r\n\r\n")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [(b"GET /other HTTP/1.1", "404"), (b"POST /metrics HTTP/1.1", "405"), (b"\x00\xff", "404")],
)
async def test_anything_else_is_refused(
    page: MetricsPage, request_line: bytes, status: str
) -> None:
    assert (await ask(page, request_line + b"\r\n\r\n")).startswith(f"HTTP/1.1 {status} ")


@pytest.mark.parametrize("request_bytes", [b"", b"GET /metrics", b"x" * 100_000 + b"\r\n\r\n"])
async def test_what_is_no_request_gets_no_answer(page: MetricsPage, request_bytes: bytes) -> None:
    with suppress(ConnectionResetError):
        assert await ask(page, request_bytes) == ""


async def test_a_port_in_use_is_named(page: MetricsPage) -> None:
    with pytest.raises(OSError, match=f"no metrics on port {page.port}: "):
        MetricsPage(str, port=page.port)
