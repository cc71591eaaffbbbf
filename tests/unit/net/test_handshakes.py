"""Handshakes of a listener: in turns, with a deadline, behind the same connection as ever."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any, cast

import pytest

from moldau.net import connection as connection_module
from moldau.net import handshakes as handshakes_module
from moldau.net import listener as listener_module
from moldau.net import sockets, tls_transport
from moldau.net.admission import Admission, ConnectionLimits
from moldau.net.answer import Limits, Part, Respond
from moldau.net.connection import Connection
from moldau.net.handshakes import Handshakes
from moldau.net.listener import Endpoint, Listener
from unit.net.tls_line import client_tls, server_tls
from unit.waiting import LoopTime, settled, until


@pytest.fixture(params=["source", "compiled", "transport"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "source":
        monkeypatch.setattr(listener_module, "_connections", connection_module)
        monkeypatch.setattr(listener_module, "_sockets", sockets)
        monkeypatch.setattr(listener_module, "_tls", tls_transport)
    elif request.param == "transport":
        monkeypatch.setattr(sockets, "IS_AVAILABLE", False)
        monkeypatch.setattr(listener_module, "_sockets", sockets)


async def echo(frame: memoryview) -> list[Part]:
    return [len(frame).to_bytes(4, "big"), bytes(frame)]


@asynccontextmanager
async def listening(limits: ConnectionLimits | None = None) -> AsyncIterator[Listener]:
    context = server_tls()

    def opening(connection: Connection) -> Respond:
        connection.unknown_since_s = asyncio.get_running_loop().time()

        def secured() -> None:
            connection.unknown_since_s = None

        cast("Any", connection.transport).on_secure = secured
        return echo

    listener = Listener(
        Endpoint("SSL", "127.0.0.1", 0),
        opening,
        limits=Limits(),
        admission=Admission(limits or ConnectionLimits()),
    )
    listener.handshakes = Handshakes(lambda: context)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        yield listener
        serving.cancel()


@pytest.mark.usefixtures("form")
async def test_a_connection_behind_tls_is_one_like_others() -> None:
    async with listening() as listener:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", listener.port, ssl=client_tls(), server_hostname="localhost"
        )
        body = bytes(range(256)) * 2_000
        writer.write(len(body).to_bytes(4, "big") + body)
        assert await reader.readexactly(4 + len(body)) == len(body).to_bytes(4, "big") + body
        writer.close()
        await until(lambda: listener.connection_count == 0)


@pytest.mark.usefixtures("form")
async def test_who_does_not_come_to_an_end_with_its_handshake_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trap f: the deadline counts from the beginning, whatever trickles in."""
    time = LoopTime(monkeypatch)
    async with listening(ConnectionLimits(handshake_s=10)) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"\x16\x03\x01\x02\x00")
        await until(lambda: listener.connection_count == 1)
        time.jump(9)
        writer.write(b"\x01")
        await settled()
        assert listener.connection_count == 1  # counted, so that limits hold for it as well
        await time.until(lambda: listener.connection_count == 0)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()


async def test_who_has_come_in_is_not_held_to_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    async with listening(ConnectionLimits(handshake_s=10)) as listener:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", listener.port, ssl=client_tls(), server_hostname="localhost"
        )
        await settled()
        time.jump(30)
        await settled()
        writer.write(b"\0\0\0\1x")
        assert await reader.readexactly(5) == b"\0\0\0\1x"
        writer.close()


async def test_only_so_many_handshakes_are_made_in_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trap i: a fleet that calls at once leaves time for those that are there."""
    time = LoopTime(monkeypatch)
    steps: list[int] = []

    class Slow:
        def __init__(self, number: int) -> None:
            self.number = number

        def step(self) -> None:
            steps.append(self.number)
            time.jump(0.003)

    handshakes = Handshakes(server_tls)
    for number in range(7):
        slow = Slow(number)
        if handshakes.may_go_on(cast("tls_transport.TlsTransport", slow)):
            slow.step()
    assert steps == [0, 1], "the first need not wait, but nobody waits for all"
    seen = [2]
    async with asyncio.timeout(30):
        while len(steps) < 7:
            await asyncio.sleep(0)
            seen.append(len(steps))
    assert all(later - earlier <= 2 for earlier, later in pairwise(seen))
    assert steps == [0, 1, 2, 3, 4, 5, 6]
    assert handshakes_module._TURN_S < 0.02
    time.jump(1)
    assert handshakes.may_go_on(cast("tls_transport.TlsTransport", Slow(7)))


async def test_keys_may_change_between_two_connections() -> None:
    contexts = [server_tls(), server_tls(enabled_protocols="TLSv1.2")]
    handshakes = Handshakes(contexts.pop)
    engines = [handshakes.engine(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in range(2)]
    assert engines[0].context is not engines[1].context
