"""A gate in front of a whole broker, and clients that call there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from moldau.broker.context import Client
from moldau.broker.login.failure_delays import FailureDelays
from moldau.broker.login.gate import Gate, Gatekeeper
from moldau.broker.login.login_counts import LoginCounts
from moldau.config.listeners import SecurityProtocol
from moldau.net.admission import Admission, ConnectionLimits
from moldau.net.answer import Limits
from moldau.net.listener import Endpoint, Listener
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from unit.broker.login.logging_in import Word, heard
from unit.broker.world import World, broker_world, frame_of
from unit.waiting import LoopTime, settled

DELAY_S = 5.0
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
METADATA = MetadataRequest(topics=[])


@dataclass(slots=True)
class Door:
    """A listener with a gate, in front of a whole broker."""

    world: World
    keeper: Gatekeeper
    listener: Listener
    clients: list[Client]
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self) -> "Caller":
        reader, writer = await asyncio.open_connection("127.0.0.1", self.listener.port)
        self.writers.append(writer)
        return Caller(reader, writer)

    def counted(self, name: str) -> int:
        counter = getattr(self.keeper.counts, name)
        value: int = counter.value
        return value


@dataclass(slots=True)
class Caller:
    """A client that speaks in frames."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, frame: bytes | bytearray) -> None:
        self.writer.write(len(frame).to_bytes(4, "big") + frame)

    async def receive(self) -> bytes:
        """The next frame, with its size."""
        size = await self.reader.readexactly(4)
        return size + await self.reader.readexactly(int.from_bytes(size, "big"))

    async def ask(self, request: object, version: int) -> Any:
        self.send(frame_of(request, version))
        return heard(await self.receive(), type(request), version)

    async def log_in(self, user: bytes = b"anna", version: int = 2) -> Any:
        await self.ask(SaslHandshakeRequest(mechanism="WORD"), 1)
        return await self.ask(SaslAuthenticateRequest(auth_bytes=user), version)

    async def until_closed(self) -> bytes:
        """What comes before the end."""
        return await self.reader.read()


@asynccontextmanager
async def gate(
    *mechanisms: Word, frame_size_max: int = 1000, settings: dict[str, str] | None = None
) -> AsyncIterator[Door]:
    async with broker_world(settings) as world:
        keeper = Gatekeeper(
            [*mechanisms] or [Word(), Word("OTHER")],
            frame_size_max,
            FailureDelays(int(1000 * DELAY_S)),
            LoginCounts(world.broker.metrics, "SASL"),
            world.clock,
        )
        clients: list[Client] = []

        def opening(connection: Any) -> Callable[[memoryview], Any]:
            client = Client(
                "PLAINTEXT", "10.1.1.1", "10.0.0.1", 9093, SecurityProtocol.SASL_PLAINTEXT
            )
            clients.append(client)
            return Gate(keeper, world.dispatcher, client, connection).respond

        listener = Listener(
            Endpoint("SASL", "127.0.0.1", 0),
            opening,
            limits=Limits(),
            admission=Admission(ConnectionLimits()),
        )
        serving = asyncio.create_task(listener.serve())
        door = Door(world, keeper, listener, clients)
        try:
            yield door
        finally:
            for writer in door.writers:
                writer.close()
            serving.cancel()
            listener.close()


async def ends_late(caller: Caller, time: LoopTime) -> bytes:
    """What is said before the end, neither of which comes before the delay is over."""
    ending = asyncio.create_task(caller.until_closed())
    await settled()
    assert not ending.done()
    await time.until(ending.done)
    return ending.result()
