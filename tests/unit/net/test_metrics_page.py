"""A page of text over HTTP, for Prometheus to fetch."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest

from moldau.net.metrics_page import MetricsPage, Page
from moldau.runtime import turns
from unit.net.test_connection import transport_of
from unit.waiting import until


@pytest.fixture
async def page() -> AsyncIterator[MetricsPage]:
    reasons = iter(["the broker is starting", ""])
    pages = {
        "/metrics": Page(lambda: ["answer ", "42\n"]),
        "/health": Page(lambda: ["ok\n"], lambda: next(reasons)),
    }
    page = MetricsPage(pages, host="localhost", port=0)
    serving = asyncio.create_task(page.serve())
    yield page
    serving.cancel()


async def ask(page: MetricsPage, request: bytes, address: str = "127.0.0.1") -> str:
    reader, writer = await asyncio.open_connection(address, page.port)
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
        MetricsPage({}, host="localhost", port=page.port)


async def test_a_page_that_is_not_to_be_had_says_why_until_it_is(page: MetricsPage) -> None:
    head, _, body = (await ask(page, b"GET /health HTTP/1.1\r\n\r\n")).partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 503 ")
    assert body == "the broker is starting\n"
    head, _, body = (await ask(page, b"GET /health HTTP/1.1\r\n\r\n")).partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 ")
    assert body == "ok\n"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
async def test_localhost_is_each_loopback_address(page: MetricsPage, address: str) -> None:
    assert "answer 42" in await ask(page, b"GET /metrics HTTP/1.1\r\n\r\n", address)


@pytest.mark.skipif(sys.platform != "linux", reason="others have only one loopback address")
async def test_localhost_is_no_other_address(page: MetricsPage) -> None:
    with pytest.raises(ConnectionRefusedError):
        await ask(page, b"GET /metrics HTTP/1.1\r\n\r\n", "127.0.0.2")


async def test_others_get_their_turn_while_a_long_page_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0)
    count = 0
    seen = []

    def lines() -> Iterator[str]:
        for number in range(50):
            seen.append(count)
            yield f"line {number}\n"

    async def take_turns() -> None:
        nonlocal count
        while True:
            count += 1
            await asyncio.sleep(0)

    page = MetricsPage({"/metrics": Page(lines)}, host="127.0.0.1", port=0)
    tasks = [asyncio.create_task(page.serve()), asyncio.create_task(take_turns())]
    answer = await ask(page, b"GET /metrics HTTP/1.1\r\n\r\n")
    for task in tasks:
        task.cancel()
    assert answer.endswith("\r\n\r\n" + "".join(f"line {number}\n" for number in range(50)))
    assert f"Content-Length: {10 * 7 + 40 * 8}\r\n" in answer
    assert len(set(seen)) > 5, "others have their turn after every few lines"


async def test_one_that_does_not_read_is_hung_up_on(caplog: pytest.LogCaptureFixture) -> None:
    text = "x" * 20_000_000
    page = MetricsPage({"/metrics": Page(lambda: [text])}, host="127.0.0.1", port=0, timeout_s=0.1)
    serving = asyncio.create_task(page.serve())
    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    transport_of(writer).pause_reading()
    with caplog.at_level("DEBUG", "moldau.net.metrics_page"):
        writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
        await until(lambda: "cut off" in caplog.text)
    transport_of(writer).resume_reading()
    received = b""
    with suppress(ConnectionError):
        received = await reader.read()
    assert len(received) < len(text)
    writer.close()
    serving.cancel()
