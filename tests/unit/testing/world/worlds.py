"""Programs for tests of the simulated world."""

import asyncio
from collections.abc import Callable

from moldau.testing.world.machine import Machine, Program
from moldau.testing.world.world import World

Answer = Callable[[bytes, asyncio.Transport], object]


class Recorder(asyncio.Protocol):
    """Keeps what arrives, and may answer."""

    def __init__(self, answer: Answer = lambda _data, _transport: None) -> None:
        self.received = bytearray()
        self.is_paused = False
        self.lost: list[Exception | None] = []
        self.transport: asyncio.Transport
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        self._answer(data, self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False


def server(world: World, protocol: Recorder, port: int = 1) -> Program:
    """A program that accepts one caller and lives on."""

    async def serve(machine: Machine) -> None:
        loop = asyncio.get_running_loop()
        listening = world.network.bind(machine.name, port)
        called = loop.create_future()
        loop.add_reader(listening, set_once, called)
        await called
        loop.remove_reader(listening)
        accepted, _ = listening.accept()
        await loop.connect_accepted_socket(lambda: protocol, accepted)
        await loop.create_future()

    return serve


def set_once(future: "asyncio.Future[None]") -> None:
    """Somebody has called, perhaps again."""
    if not future.done():
        future.set_result(None)


async def call(name: str, port: int = 1) -> Recorder:
    """A connection to a server."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(Recorder, name, port)
    assert isinstance(protocol, Recorder)
    return protocol
