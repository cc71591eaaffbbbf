"""Connections: frames, order, bounds, and what a client can do wrong."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from moldau.net import connection as connection_module
from moldau.net import listener as listener_module
from moldau.net import sockets
from moldau.net.admission import Admission, ConnectionLimits
from moldau.net.answer import CloseConnection, Later, Limits, Outcome, Part
from moldau.net.connection import Connection
from moldau.net.listener import Endpoint, Listener
from moldau.net.request_memory import RequestMemory
from unit.waiting import LoopTime, settled, until


@pytest.fixture(autouse=True, params=["source", "compiled", "transport"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands and compiled, and on asyncio's transports."""
    if request.param == "source":
        monkeypatch.setattr(listener_module, "_connections", connection_module)
        monkeypatch.setattr(listener_module, "_sockets", sockets)
    elif request.param == "transport":
        monkeypatch.setattr(sockets, "IS_AVAILABLE", False)
        monkeypatch.setattr(listener_module, "_sockets", sockets)


Respond = Callable[[Connection, memoryview], Outcome]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


async def echo(_: Connection, frame: memoryview) -> list[Part]:
    return [len(frame).to_bytes(4, "big"), bytes(frame)]


def transport_of(writer: asyncio.StreamWriter) -> asyncio.Transport:
    """A client's end, which may stop to read."""
    assert isinstance(writer.transport, asyncio.Transport)
    return writer.transport


@asynccontextmanager
async def listening(
    respond: Respond,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    connection_limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - frozen
) -> AsyncIterator[Listener]:
    listener = Listener(
        Endpoint("PLAINTEXT", "127.0.0.1", 0),
        lambda connection: partial(respond, connection),
        limits=limits,
        admission=Admission(connection_limits),
    )
    serving = asyncio.ensure_future(listener.serve())
    try:
        yield listener
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def connect(listener: Listener) -> Streams:
    return await asyncio.open_connection("127.0.0.1", listener.port)


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(4), "big")
    return await reader.readexactly(size)


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with listening(echo) as listener:
        reader, writer = await connect(listener)
        bodies = [f"request {n}".encode() for n in range(500)]
        writer.write(b"".join(framed(body) for body in bodies))
        assert [await read_frame(reader) for _ in bodies] == bodies
        writer.close()


async def test_a_request_that_waits_holds_back_the_ones_behind_it() -> None:
    gate = asyncio.Event()
    seen: list[bytes] = []

    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        seen.append(bytes(frame))
        if bytes(frame) == b"slow":
            await gate.wait()
        return await echo(connection, frame)

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"slow") + framed(b"fast"))
        await writer.drain()
        await until(lambda: seen)
        await settled()
        assert seen == [b"slow"]
        gate.set()
        assert [await read_frame(reader), await read_frame(reader)] == [b"slow", b"fast"]
        writer.close()


async def test_a_frame_may_arrive_byte_by_byte() -> None:
    async with listening(echo) as listener:
        reader, writer = await connect(listener)
        for byte in framed(b"in pieces"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        assert await read_frame(reader) == b"in pieces"
        writer.close()


@pytest.mark.parametrize("size", [0, 1, 65_531, 65_532, 65_533, 200_000, 3_000_000])
async def test_frames_of_any_size_come_through_whole(size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    async with listening(echo) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(body[:size]) + framed(b"next"))
        assert await read_frame(reader) == body[:size]
        assert await read_frame(reader) == b"next"
        writer.close()


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 1_001])
async def test_a_frame_larger_than_the_limit_or_negative_closes_the_connection(size: int) -> None:
    async with listening(echo, Limits(frame_size_bytes=1_000)) as listener:
        reader, writer = await connect(listener)
        writer.write(size.to_bytes(4, "big", signed=True) + b"x" * 100)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await read_frame(reader)
        writer.close()


@pytest.mark.parametrize(
    ("api_key", "size", "is_served"), [(3, 2_000, 0), (3, 1_000, 1), (0, 2_000, 1)]
)
async def test_requests_of_some_apis_may_be_larger_than_those_of_others(
    api_key: int, size: int, is_served: int
) -> None:
    limits = Limits(large_api_keys=frozenset({0}), list_frame_size_bytes=1_000)
    async with listening(echo, limits) as listener:
        reader, writer = await connect(listener)
        body = api_key.to_bytes(2, "big") + bytes(size - 2)
        # The size alone says nothing yet: the kind comes after it.
        writer.write(framed(body)[:5])
        await writer.drain()
        writer.write(framed(body)[5:])
        if is_served:
            assert await read_frame(reader) == body
        else:
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await read_frame(reader)
        writer.close()


async def test_an_announced_size_is_not_allocated() -> None:
    seen: list[Connection] = []

    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        seen.append(connection)
        return await echo(connection, frame)

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"hello") + (100_000_000).to_bytes(4, "big") + b"x" * 1_000)
        assert await read_frame(reader) == b"hello"
        assert len(seen[0].get_buffer(-1)) <= Limits().receive_buffer_bytes
        writer.close()


async def test_only_who_has_much_to_say_gets_the_whole_buffer() -> None:
    """Thousands may connect and say nothing, or not more than who they are."""
    seen: list[Connection] = []

    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        seen.append(connection)
        return await echo(connection, frame)

    # What fits the buffer needs no memory of those that requests share.
    async with listening(respond, Limits(request_memory=RequestMemory(0))) as listener:
        reader, writer = await connect(listener)
        for body in (b"hello", b"x" * 400):
            writer.write(framed(body))
            assert await read_frame(reader) == body
        assert len(seen[0].get_buffer(-1)) <= 512
        for body in (b"x" * 60_000, b"y" * 40_000):
            writer.write(framed(body) + framed(b"next"))
            assert await read_frame(reader) == body
            assert await read_frame(reader) == b"next"
        await until(lambda: len(seen[0].get_buffer(-1)) == Limits().receive_buffer_bytes)
        writer.close()


async def test_no_answer_is_sent_where_there_is_none() -> None:
    async def respond(connection: Connection, frame: memoryview) -> list[Part] | None:
        return None if bytes(frame) == b"quiet" else await echo(connection, frame)

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"quiet") + framed(b"loud"))
        assert await read_frame(reader) == b"loud"
        writer.close()


async def test_hanging_up_is_an_answer_and_earlier_answers_still_arrive() -> None:
    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        if bytes(frame) == b"bad":
            raise CloseConnection("unknown request")
        return await echo(connection, frame)

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"good") + framed(b"bad") + framed(b"never"))
        assert await read_frame(reader) == b"good"
        assert await reader.read() == b""
        writer.close()


async def test_a_bug_in_one_request_closes_only_its_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        assert bytes(frame) != b"bug"
        return await echo(connection, frame)

    async with listening(respond) as listener:
        other_reader, other_writer = await connect(listener)
        reader, writer = await connect(listener)
        writer.write(framed(b"bug"))
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await read_frame(reader)
        other_writer.write(framed(b"fine"))
        assert await read_frame(other_reader) == b"fine"
        writer.close()
        other_writer.close()
    assert "could not be answered" in caplog.text


async def test_a_client_that_leaves_cancels_its_parked_request() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        started.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        return []

    async with listening(respond) as listener:
        _, writer = await connect(listener)
        writer.write(framed(b"park"))
        async with asyncio.timeout(5):
            await started.wait()
            writer.close()
            await cancelled.wait()


async def test_a_large_request_waits_while_others_have_the_memory_for_them() -> None:
    body = bytes(200_000)
    whole, memory = framed(body), RequestMemory(1)
    seen = []

    async def respond(connection: Connection, frame: memoryview) -> list[Part]:
        seen.append(connection)
        return await echo(connection, frame)

    async with (
        listening(respond, Limits(request_memory=memory)) as listener,
        asyncio.timeout(20),
    ):
        streams = [await connect(listener) for _ in range(3)]
        for reader, writer in streams:
            writer.write(framed(b"who"))
            assert await read_frame(reader) == b"who"
        first, second, third = streams
        first[1].write(whole[:100_000])
        while memory.left_bytes > 0:
            await asyncio.sleep(0)
        second[1].write(whole)
        third[1].write(whole)
        while not (seen[1].is_read_paused and seen[2].is_read_paused):
            await asyncio.sleep(0)
        assert seen[1].frame_began_s is None
        third[1].close()
        first[1].write(whole[100_000:])
        for reader, _ in (first, second):
            assert await read_frame(reader) == body
        first[1].write(whole)
        assert await read_frame(first[0]) == body
        for _, writer in streams:
            writer.close()


@pytest.mark.parametrize("limits", [ConnectionLimits(frame_s=0.0), ConnectionLimits(idle_s=0.0)])
async def test_a_client_that_fills_the_buffer_and_leaves_cancels_its_parked_request(
    limits: ConnectionLimits, request: pytest.FixtureRequest
) -> None:
    if limits.idle_s and request.node.callspec.params["form"] == "transport":
        pytest.skip("asyncio's transports do not see it while they do not read")
    cancelled = asyncio.Event()

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()
        return []

    async with listening(respond, connection_limits=limits) as listener:
        _, writer = await connect(listener)
        writer.write(framed(b"park") + framed(bytes(1_000)) * 80)
        await writer.drain()
        writer.close()
        async with asyncio.timeout(20):
            await cancelled.wait()
            while listener.connection_count:
                await asyncio.sleep(0)


async def test_a_request_that_is_held_back_has_no_deadline_to_arrive() -> None:
    stored: asyncio.Future[list[Part]] = asyncio.get_running_loop().create_future()
    seen = []

    async def respond(connection: Connection, frame: memoryview) -> Any:
        seen.append(connection)
        return (
            Later(_result(stored)) if bytes(frame[:4]) == b"kind" else await echo(connection, frame)
        )

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        other = framed(b"other")
        async with asyncio.timeout(20):
            writer.write(framed(b"kind") + other[:3])
            await until(lambda: seen and seen[0].frame_began_s is not None)
            writer.write(other[3:])
            await until(lambda: seen[0].frame_began_s is None)
            stored.set_result([framed(b"stored")])
            assert await read_frame(reader) == b"stored"
            assert await read_frame(reader) == b"other"
        writer.close()


async def _result(future: asyncio.Future[list[Part]]) -> list[Part]:
    return await future


async def test_a_client_that_never_reads_stops_being_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    answered = 0
    answer = b"x" * 100_000

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        nonlocal answered
        answered += 1
        return [framed(answer)]

    limits = ConnectionLimits(write_stall_s=0.0)
    async with listening(respond, Limits(unsent_bytes=200_000), limits) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"more") * 2_000)
        await until(lambda: listener.connection_count == 1)
        await time.until(lambda: listener.connection_count == 0)
        assert answered < 2_000
        writer.close()
        del reader
