"""Listeners: limits on how many connections there are and how long they last."""

import asyncio
import socket
from collections.abc import Sequence

import pytest

from moldau.net.admission import Admission, ConnectionLimits, ListenerLimits
from moldau.net.answer import Limits, Part, Respond
from moldau.net.connection import Connection
from moldau.net.listener import Endpoint, Listener


async def echo(frame: memoryview) -> Sequence[Part]:
    return [len(frame).to_bytes(4, "big"), bytes(frame)]


def listener_with(limits: ConnectionLimits, host: str = "127.0.0.1") -> Listener:
    return listener_of(Admission(limits), host=host)


def listener_of(admission: Admission, name: str = "PLAINTEXT", host: str = "127.0.0.1") -> Listener:
    return Listener(
        Endpoint(name, host, 0), lambda _connection: echo, limits=Limits(), admission=admission
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
        listener.admission.limits = ConnectionLimits(connections_per_ip_max=0)
        reader, second = await asyncio.open_connection("127.0.0.1", listener.port)
        assert await is_hung_up(reader)
        second.close()
        first.close()
        serving.cancel()


@pytest.mark.parametrize(
    "limits",
    [
        ConnectionLimits(connections_max=1),
        ConnectionLimits(of_listeners={"plaintext": ListenerLimits(connections_max=1)}),
    ],
)
async def test_a_limit_that_is_raised_lets_in_who_waits(limits: ConnectionLimits) -> None:
    listener = listener_with(limits)
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(20):
        serving = tasks.create_task(listener.serve())
        _, first = await ask(listener.port)
        second = tasks.create_task(ask(listener.port))
        while listener.admission.room_on("PLAINTEXT") > 0:
            await asyncio.sleep(0)
        listener.admission.limits = ConnectionLimits()
        answer, writer = await second
        assert answer == b"\0\0\0\2hi"
        for one in (first, writer):
            one.close()
        serving.cancel()


async def test_the_limit_holds_for_all_listeners_together() -> None:
    admission = Admission(ConnectionLimits(connections_max=1))
    listeners = [listener_of(admission, name) for name in ("INSIDE", "OUTSIDE")]
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(20):
        serving = [tasks.create_task(listener.serve()) for listener in listeners]
        _, first = await ask(listeners[0].port)
        second = tasks.create_task(ask(listeners[1].port))
        assert admission.room_on("OUTSIDE") == 0
        for _ in range(100):
            await asyncio.sleep(0)
        assert not second.done()
        first.close()
        answer, writer = await second
        assert answer == b"\0\0\0\2hi"
        writer.close()
        for one in serving:
            one.cancel()


async def test_other_brokers_come_in_above_the_limit_and_the_most_silent_client_goes() -> None:
    limits = ConnectionLimits(connections_max=2, protected_listener="INSIDE")
    admission = Admission(limits)
    outside, inside = listener_of(admission, "OUTSIDE"), listener_of(admission, "INSIDE")
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(20):
        serving = [tasks.create_task(listener.serve()) for listener in (outside, inside)]
        silent_reader, silent = await asyncio.open_connection("127.0.0.1", outside.port)
        while not outside.connection_count:
            await asyncio.sleep(0)
        _, busy = await ask(outside.port)
        answer, broker = await ask(inside.port)
        assert answer == b"\0\0\0\2hi"
        assert await is_hung_up(silent_reader)
        assert (outside.connection_count, inside.connection_count) == (1, 1)
        for one in (silent, busy, broker):
            one.close()
        for task in serving:
            task.cancel()


async def test_the_limit_of_an_address_holds_where_both_families_are_listened_to() -> None:
    limits = ConnectionLimits(connections_per_ip_max=0, connections_max_by_ip={"127.0.0.1": 1})
    listener = listener_with(limits, host="")
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        answer, first = await ask(listener.port)
        assert answer == b"\0\0\0\2hi"
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


async def test_connections_are_kept_alive() -> None:
    accepted = []

    def opening(connection: Connection) -> Respond:
        accepted.append(connection.transport.get_extra_info("socket"))
        return echo

    listener = Listener(
        Endpoint("PLAINTEXT", "127.0.0.1", 0),
        opening,
        limits=Limits(),
        admission=Admission(ConnectionLimits()),
    )
    serving = asyncio.ensure_future(listener.serve())
    _, writer = await ask(listener.port)
    assert accepted[0].getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
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
