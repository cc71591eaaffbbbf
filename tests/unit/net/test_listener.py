"""Listeners: limits on how many connections there are and how long they last."""

import asyncio
import errno
import os
import socket
import sys
from collections import Counter

import pytest

from moldau.net import listener as listener_module
from moldau.net.admission import Admission, ConnectionLimits, ListenerLimits
from moldau.net.answer import Limits, Part, Respond
from moldau.net.connection import Connection
from moldau.net.listener import Endpoint, Listener, bind_host, listen
from unit.waiting import LoopTime, settled


async def echo(frame: memoryview) -> list[Part]:
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
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"\0\0\0\2hi")
        second = tasks.create_task(reader.read(6))
        await settled()
        assert not second.done()
        first.close()
        assert await second == b"\0\0\0\2hi"
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
async def test_silent_and_slow_clients_are_dropped(
    sent: bytes, limits: ConnectionLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = LoopTime(monkeypatch)
    listener = listener_with(limits)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(sent)
        hung_up = tasks.create_task(is_hung_up(reader))
        await time.until(hung_up.done)
        assert hung_up.result()
        writer.close()
        serving.cancel()


async def test_very_many_connections_are_looked_at_in_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    monkeypatch.setattr(listener_module, "_SWEPT_AT_ONCE", 2)
    turns, looked_at_in = 0, []
    overdue = Listener._overdue

    def noting(self: Listener, connection: Connection, now_s: float) -> str:
        looked_at_in.append(turns)
        return overdue(self, connection, now_s)

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(Listener, "_overdue", noting)
    listener = listener_with(ConnectionLimits())
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        counting = tasks.create_task(count_turns())
        writers = [(await ask(listener.port))[1] for _ in range(7)]
        looked_at_in.clear()
        await time.until(lambda: len(looked_at_in) >= 7)
        assert max(Counter(looked_at_in).values()) <= 2
        for writer in writers:
            writer.close()
        counting.cancel()
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


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
async def test_localhost_is_each_loopback_address(address: str) -> None:
    listener = listener_with(ConnectionLimits(), host="localhost")
    serving = asyncio.ensure_future(listener.serve())
    answer, writer = await ask(listener.port, address)
    assert answer == b"\0\0\0\2hi"
    assert listener.connection_count == 1
    writer.close()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


@pytest.mark.skipif(sys.platform != "linux", reason="others have only one loopback address")
async def test_localhost_is_no_other_address() -> None:
    listener = listener_with(ConnectionLimits(), host="localhost")
    with pytest.raises(ConnectionRefusedError):
        await ask(listener.port, "127.0.0.2")
    listener.close()


class Ports:
    """Binds as the operating system would, where some addresses are missing or taken."""

    def __init__(self, **failures: int) -> None:
        self.failures = failures
        self.bound: list[tuple[str, socket.socket]] = []

    def bind(self, host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        number = self.failures.get("v6" if ":" in host else "v4")
        if number is not None:
            raise OSError(number, os.strerror(number))
        self.bound.append((host, socket.socket(family)))
        self.bound[-1][1].bind((host, port))
        return self.bound[-1][1]


@pytest.mark.parametrize(
    ("missing", "address"),
    [({"v6": errno.EADDRNOTAVAIL}, "127.0.0.1"), ({"v4": errno.EAFNOSUPPORT}, "::1")],
)
def test_one_loopback_address_is_enough(missing: dict[str, int], address: str) -> None:
    ports = Ports(**missing)
    (listening,) = bind_host("localhost", 0, ports.bind)
    assert listening.getsockname()[0] == address
    listening.close()


def test_without_any_loopback_address_it_says_so() -> None:
    with pytest.raises(OSError, match="Cannot assign"):
        bind_host("localhost", 0, Ports(v4=errno.EADDRNOTAVAIL, v6=errno.EADDRNOTAVAIL).bind)


def test_a_port_that_is_taken_on_one_loopback_address_is_taken() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ports = Ports(v6=errno.EADDRINUSE)
    with pytest.raises(OSError, match="in use"):
        bind_host("localhost", port, ports.bind)
    assert ports.bound[0][1].fileno() == -1, "the other one is given back"


def test_a_drawn_port_need_not_be_free_on_both() -> None:
    (listening,) = bind_host("localhost", 0, Ports(v6=errno.EADDRINUSE).bind)
    listening.close()


def test_a_name_of_both_families_stands_for_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [("::1", 0, 0, 0), ("127.0.0.1", 0)]
    families = (socket.AF_INET6, socket.AF_INET)
    found = [
        (family, socket.SOCK_STREAM, 0, "", address)
        for family, address in zip(families, addresses, strict=True)
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with listen("here", 0) as listening:
        assert listening.family == socket.AF_INET


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
