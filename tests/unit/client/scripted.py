"""A peer that answers frames as a test says, to show what clients do with odd brokers."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from moldau.client.connection.addresses import Address

Answer = Callable[[bytes], bytes | None]
"""The frame of a request to the frame of its answer; None hangs up, b"" says nothing."""


@asynccontextmanager
async def scripted_broker(
    answer: Answer, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Address]:
    """Listens on a free port of the loopback address."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                answered = answer(await reader.readexactly(size))
                if answered is None:
                    return
                if answered:
                    writer.write(len(answered).to_bytes(4, "big") + answered)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    try:
        yield Address(host, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def hanging_up(
    said: bytes = b"", *, is_kept: bool = False, is_reset: bool = False
) -> AsyncIterator[Address]:
    """A port where whoever says something is told this, and hung up on unless kept."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read(100)
        writer.write(said)
        if is_reset:
            writer.transport.abort()
        elif not is_kept:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Address("127.0.0.1", server.sockets[0].getsockname()[1])
        for writer in writers:
            writer.transport.abort()
