"""A network that can be cut: everything between brokers, clients and ZooKeeper goes through here.

Each server has a door, a port of this process that leads to it. Who comes in says its name
with the client id of its first request; a door can also be one party's own. What is sent
over a cut link waits, as TCP does when packets are lost, and goes on when the link is mended.
"""

import asyncio
import re
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from moldau.protocol.headers import decode_request_header

_CHUNK_BYTES = 1 << 16
_SIZE_BYTES = 4
_BROKER = re.compile(r"broker-\d+")  # each of a broker's connections has a client id of its own
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class _Door:
    """Where a server is found behind its door."""

    server: str
    port: int
    client: str | None
    """The only one who knows this door; None if many do."""


class Links:
    """The doors, and which links are cut; a thread of its own passes the bytes on."""

    def __init__(self) -> None:
        self._cut: set[tuple[str, str]] = set()
        self._loop = asyncio.new_event_loop()
        self._has_changed = asyncio.Event()
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def open(self, server: str, port: int, client: str | None = None) -> int:
        """Open a door to a server that listens on a port here; returns the door's port."""
        found: int = self._call(self._open(_Door(server, port, client)))
        return found

    def cut(self, *parties: str) -> None:
        """Cut everything between the first of the parties and each of the others."""
        first, *others = parties
        for other in others:
            self.mute(first, other)
            self.mute(other, first)

    def mute(self, sender: str, receiver: str) -> None:
        """Let nothing of what one party sends come to the other."""
        self._loop.call_soon_threadsafe(self._cut.add, (sender, receiver))

    def mend(self) -> None:
        """Let everything through again."""
        self._call(self._mend())

    def close(self) -> None:
        """Close the doors."""
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # In the thread

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _open(self, door: _Door) -> int:
        async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections.add(task)
            try:
                await self._pass(door, reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.transport.abort()
                self._connections.discard(task)

        server = await asyncio.start_server(enter, HOST, 0)
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def _mend(self) -> None:
        self._cut.clear()
        self._has_changed.set()
        self._has_changed = asyncio.Event()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _pass(
        self, door: _Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        begun, client = b"", door.client
        if client is None:
            size = await reader.readexactly(_SIZE_BYTES)
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            begun = size + frame
            client = decode_request_header(frame)[0].client_id or ""
            if broker := _BROKER.match(client):
                client = broker[0]
        await self._until_open(client, door.server)
        to_reader, to_writer = await asyncio.open_connection(HOST, door.port)
        to_writer.write(begun)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, to_writer, client, door.server))
                both.create_task(self._pump(to_reader, writer, door.server, client))
        except* OSError:
            pass
        finally:
            to_writer.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        sender: str,
        receiver: str,
    ) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            await self._until_open(sender, receiver)
            writer.write(data)
            await writer.drain()
        await self._until_open(sender, receiver)
        raise ConnectionResetError("one side has hung up")

    async def _until_open(self, sender: str, receiver: str) -> None:
        while (sender, receiver) in self._cut:
            await self._has_changed.wait()
