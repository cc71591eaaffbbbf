"""How connections end, and what is left of them."""

import asyncio
import gc
import logging
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from moldau.net.admission import ConnectionLimits
from moldau.net.answer import CloseConnection, Later, Limits, Part
from moldau.net.connection import Connection
from moldau.net.listener import Listener
from unit.net.test_connection import connect, form, framed, listening, read_frame, transport_of
from unit.waiting import LoopTime, until

__all__ = ["form"]  # the fixture lets connections be tried in all their forms


@pytest.mark.parametrize("end", [framed(b"wrong"), b""])
async def test_one_that_is_hung_up_on_and_reads_nothing_is_forgotten(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it did something wrong or said that no more will come."""
    time = LoopTime(monkeypatch)
    answered = 0

    async def respond(_: Connection, frame: memoryview) -> list[Part]:
        nonlocal answered
        if bytes(frame) == b"wrong":
            raise CloseConnection("wrong")
        answered += 1
        return [framed(bytes(1_000_000))]

    limits = ConnectionLimits(write_stall_s=0.0)
    async with listening(respond, Limits(unsent_bytes=2**40), limits) as listener:
        reader, writer = await connect(listener)
        transport_of(writer).pause_reading()
        writer.write(framed(b"more") * 30 + end)
        if not end:
            writer.write_eof()
        await time.until(lambda: answered == 30 and not listener.connection_count)
        writer.close()
        del reader


async def test_one_that_is_hung_up_on_has_its_time_to_read_the_answers() -> None:
    async def respond(_: Connection, frame: memoryview) -> list[Part]:
        if bytes(frame) == b"wrong":
            raise CloseConnection("wrong")
        return [framed(bytes(100_000))]

    async with listening(respond, Limits(unsent_bytes=2**40)) as listener:
        reader, writer = await connect(listener)
        transport_of(writer).pause_reading()
        writer.write(framed(b"more") * 200 + framed(b"wrong"))
        connections = listener._connections
        await until(lambda: any(each.transport.is_closing() for each in connections))
        transport_of(writer).resume_reading()
        assert len(await reader.read()) == 200 * 100_004
        writer.close()


async def test_a_request_that_is_given_up_ends_its_connection() -> None:
    async def respond(_: Connection, __: memoryview) -> list[Part]:
        await asyncio.sleep(0)
        raise asyncio.CancelledError  # as from something that is waited for and shut down

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"lost") + framed(b"behind"))
        async with asyncio.timeout(10):
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await read_frame(reader)
        writer.close()


@contextmanager
def no_collector() -> Iterator[None]:
    """Nothing is forgotten but what nobody refers to."""
    gc.collect()
    gc.disable()
    logging.disable()  # a captured line would keep its traceback, and that the connection
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        gc.enable()


async def until_gone(listener: Listener) -> None:
    async with asyncio.timeout(10):
        while listener.connection_count:
            await asyncio.sleep(0)
        for _ in range(5):  # what was cancelled ends
            await asyncio.sleep(0)


def left() -> list[str]:
    """Connections of a listener that are still in memory."""
    kinds = [type(each) for each in gc.get_objects()]
    ours = [kind for kind in kinds if str(kind.__module__).startswith("moldau.net.")]
    names = ("Connection", "_ConnectionOnTransport", "SocketTransport", "Unanswered")
    return [kind.__name__ for kind in ours if kind.__name__ in names]


class Asked:
    """Answers each request in the way that it names."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def __call__(self, _: Connection, frame: memoryview) -> Any:
        body = bytes(frame)
        self.seen.append(body)
        match body:
            case b"wait":
                return self._wait()
            case b"later":
                return Later(self._wait())
            case b"bug":
                raise AssertionError
            case b"wrong":
                raise CloseConnection("wrong")
        return [framed(bytes(20_000_000 if body == b"large" else 10))]

    async def _wait(self) -> list[Part]:
        await asyncio.get_running_loop().create_future()
        return []


@pytest.mark.parametrize("body", [b"ask", b"large", b"wait", b"later", b"bug", b"wrong", b""])
async def test_nothing_is_left_of_a_connection_without_the_collector(body: bytes) -> None:
    respond = Asked()
    async with listening(respond, Limits(unsent_bytes=2**40)) as listener:
        with no_collector():
            before = left()
            reader, writer = await connect(listener)
            writer.write(framed(b"first"))
            await read_frame(reader)
            writer.write(framed(body) + b"\0\0")
            async with asyncio.timeout(10):
                while len(respond.seen) < 2:
                    await asyncio.sleep(0)
            writer.transport.abort()
            await until_gone(listener)
            assert left() == before


async def test_what_was_received_is_forgotten_with_its_connection() -> None:
    sent_bytes = 8_000_000
    async with listening(Asked()) as listener:
        with no_collector():
            tracemalloc.start()
            try:
                for _ in range(4):
                    _, writer = await connect(listener)
                    writer.write((100_000_000).to_bytes(4, "big"))
                    writer.write(bytes(sent_bytes))
                    await writer.drain()
                    async with asyncio.timeout(10):
                        while tracemalloc.get_traced_memory()[0] < sent_bytes:
                            await asyncio.sleep(0)
                    writer.close()
                    del writer
                    await until_gone(listener)
                    assert tracemalloc.get_traced_memory()[0] < sent_bytes / 4
            finally:
                tracemalloc.stop()


async def test_memory_of_a_large_request_is_not_kept_by_the_beginning_of_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    seen: list[Connection] = []

    def respond(connection: Connection, _: memoryview) -> list[Part]:
        seen.append(connection)
        return [framed(b"answer")]

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(bytes(3_000_000)) + framed(b"next")[:6])
        assert await read_frame(reader) == b"answer"
        await time.until(lambda: len(seen[0].get_buffer(-1)) <= Limits().receive_buffer_bytes)
        writer.write(framed(b"next")[6:])
        assert await read_frame(reader) == b"answer"
        writer.close()
