"""Listeners: limits on how many connections there are and how long they last."""

import asyncio
import socket
from collections.abc import Sequence

import pytest

from moldau.net.answer import Limits, Part
from moldau.net.listener import ConnectionLimits, Endpoint, Listener


async def echo(frame: memoryview) -> Sequence[Part]:
    return [len(frame).to_bytes(4, "big"), bytes(frame)]


def listener_with(limits: ConnectionLimits, host: str = "127.0.0.1") -> Listener:
    return Listener(
        Endpoint("PLAINTEXT", host, 0),
        lambda _connection: echo,
        limits=Limits(),
        connection_limits=limits,
    )


async def ask(port: int, host: str = "127.0.0.1") -> tuple[bytes, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"\0\0\0\2hi")
    return await reader.read(6), writer


async def is_hung_up(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(5):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def test_connections_beyond_the_limit_wait_until_one_closes() -> None:
    listener = listener_with(ConnectionLimits(connections_max=1))
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        answer, first = await ask(listener.port)
        assert answer == b"\0\0\0\2hi"
        second = tasks.create_task(ask(listener.port))
        await asyncio.sleep(0.05)
        assert not second.done()
        first.close()
        answer, writer = await second
        assert answer == b"\0\0\0\2hi"
        writer.close()
        serving.cancel()


async def test_too_many_connections_from_one_address_are_closed() -> None:
    listener = listener_with(ConnectionLimits(connections_per_ip_max=1))
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        _, first = await ask(listener.port)
        reader, second = await asyncio.open_connection("127.0.0.1", listener.port)
        assert await is_hung_up(reader)
        second.close()
        first.close()
        serving.cancel()


async def test_an_address_may_have_a_limit_of_its_own_which_may_change() -> None:
    listener = listener_with(
        ConnectionLimits(connections_per_ip_max=0, connections_max_by_ip={"127.0.0.1": 1})
    )
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        _, first = await ask(listener.port)
        listener.connection_limits = ConnectionLimits(connections_per_ip_max=0)
        reader, second = await asyncio.open_connection("127.0.0.1", listener.port)
        assert await is_hung_up(reader)
        second.close()
        first.close()
        serving.cancel()


async def test_connections_are_accepted_at_a_limited_rate() -> None:
    loop = asyncio.get_running_loop()
    listener = listener_with(ConnectionLimits(connections_per_s=20))
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        began = loop.time()
        for _ in range(5):
            _, writer = await ask(listener.port)
            writer.close()
        assert loop.time() - began >= 4 / 20
        serving.cancel()


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        (b"", ConnectionLimits(idle_s=0)),
        (b"\0\0", ConnectionLimits(frame_s=0)),
        (b"\0\0\0\x09half", ConnectionLimits(frame_s=0)),
    ],
)
async def test_silent_and_slow_clients_are_dropped(sent: bytes, limits: ConnectionLimits) -> None:
    listener = listener_with(limits)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(sent)
        assert await is_hung_up(reader)
        writer.close()
        serving.cancel()


async def test_stopping_hangs_up_on_everyone_and_frees_the_port() -> None:
    listener = listener_with(ConnectionLimits())
    serving = asyncio.ensure_future(listener.serve())
    _, writer = await ask(listener.port)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", listener.port))
    writer.close()


async def test_an_empty_host_listens_on_every_address() -> None:
    listener = listener_with(ConnectionLimits(), host="")
    serving = asyncio.ensure_future(listener.serve())
    answer, writer = await ask(listener.port)
    assert answer == b"\0\0\0\2hi"
    writer.close()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_a_fleet_that_calls_at_once_is_served() -> None:
    listener = listener_with(ConnectionLimits())
    callers = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(250)]
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        for caller in callers:
            caller.setblocking(False)
            caller.sendall(b"\0\0\0\2hi")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(10):
            for caller in callers:
                assert await loop.sock_recv(caller, 6) == b"\0\0\0\2hi"
        assert listener.connection_count == 250
        serving.cancel()
    for caller in callers:
        caller.close()


@pytest.mark.parametrize("turns", range(1, 8))
async def test_whoever_calls_while_it_stops_is_hung_up_on(turns: int) -> None:
    listener = listener_with(ConnectionLimits())
    callers = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(3)]
    serving = asyncio.create_task(listener.serve())
    for _ in range(turns):
        await asyncio.sleep(0)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    for caller in callers:
        reader, writer = await asyncio.open_connection(sock=caller)
        assert await is_hung_up(reader)
        writer.close()
