"""How connections end, and what is left of them."""

import asyncio

import pytest

from moldau.net.admission import ConnectionLimits
from moldau.net.answer import CloseConnection, Limits, Part
from moldau.net.connection import Connection
from unit.net.test_connection import connect, form, framed, listening, read_frame

__all__ = ["form"]  # the fixture lets connections be tried in all their forms


@pytest.mark.parametrize("end", [framed(b"wrong"), b""])
async def test_one_that_is_hung_up_on_and_reads_nothing_is_forgotten(end: bytes) -> None:
    """Whether it did something wrong or said that no more will come."""
    answered = 0

    async def respond(_: Connection, frame: memoryview) -> list[Part]:
        nonlocal answered
        if frame == b"wrong":
            raise CloseConnection("wrong")
        answered += 1
        return [framed(bytes(1_000_000))]

    limits = ConnectionLimits(write_stall_s=0.0)
    async with listening(respond, Limits(unsent_bytes=2**40), limits) as listener:
        reader, writer = await connect(listener)
        writer.transport.pause_reading()
        writer.write(framed(b"more") * 30 + end)
        if not end:
            writer.write_eof()
        async with asyncio.timeout(10):
            while answered < 30 or listener.connection_count:
                await asyncio.sleep(0.05)
        writer.close()
        del reader


async def test_one_that_is_hung_up_on_has_its_time_to_read_the_answers() -> None:
    async def respond(_: Connection, frame: memoryview) -> list[Part]:
        if frame == b"wrong":
            raise CloseConnection("wrong")
        return [framed(bytes(100_000))]

    async with listening(respond, Limits(unsent_bytes=2**40)) as listener:
        reader, writer = await connect(listener)
        writer.transport.pause_reading()
        writer.write(framed(b"more") * 200 + framed(b"wrong"))
        connections = listener._connections
        async with asyncio.timeout(10):
            while not any(each.transport.is_closing() for each in connections):
                await asyncio.sleep(0.01)
            writer.transport.resume_reading()
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
