"""Who may come in: counts and rates, of all listeners and of each."""

import asyncio
import socket
from contextlib import suppress

import pytest

from moldau.net import admission as admission_module
from moldau.net.admission import Admission, ConnectionLimits, ListenerLimits, plain
from moldau.net.answer import Limits
from moldau.net.listener import Endpoint, Listener
from unit.waiting import LoopTime, settled, until


def test_a_rate_holds_for_all_listeners_and_for_each() -> None:
    admission = Admission(
        ConnectionLimits(connections_per_s=10, of_listeners={"slow": ListenerLimits(9, 2)})
    )
    assert admission.at_once("SLOW") == 2
    assert admission.at_once("OTHER") == 10
    admission.took("SLOW", 2, now_s=100.0)
    assert admission.wait_s("SLOW", 100.0) == 1.0
    assert round(admission.wait_s("OTHER", 100.0), 6) == 0.2
    admission.took("OTHER", 5, now_s=100.2)
    assert round(admission.wait_s("OTHER", 100.2), 6) == 0.5
    assert admission.wait_s("SLOW", 102.0) == 0.0


def test_the_least_room_counts() -> None:
    limits = ConnectionLimits(connections_max=4, of_listeners={"small": ListenerLimits(3)})
    admission = Admission(limits)
    assert admission.room_on("SMALL") == 3
    assert admission.room_on("LARGE") == 4


def test_an_address_that_was_mapped_into_the_other_family_is_plain() -> None:
    assert plain("::ffff:10.0.0.1") == "10.0.0.1"
    assert plain("::1") == "::1"


def test_the_listener_of_brokers_does_not_wait_for_the_common_rate() -> None:
    limits = ConnectionLimits(
        connections_per_s=1,
        of_listeners={"inner": ListenerLimits(9, 5)},
        protected_listener="INNER",
    )
    admission = Admission(limits)
    admission.took("OUTER", 3, now_s=100.0)
    assert (admission.wait_s("OUTER", 100.0), admission.wait_s("INNER", 100.0)) == (3.0, 0.0)
    assert admission.at_once("INNER") == 5
    admission.took("INNER", 5, now_s=100.0)
    assert (admission.wait_s("OUTER", 100.0), admission.wait_s("INNER", 100.0)) == (3.0, 1.0)


class EveryOther:
    """Keeps every second caller waiting."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    def delay_s(self, address: str, now_s: float) -> float:
        self.addresses.append(address)
        return 0.5 if len(self.addresses) % 2 == 0 else 0.0


async def test_one_too_many_of_an_address_is_kept_and_then_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = LoopTime(monkeypatch)
    rates = EveryOther()
    listener = Listener(
        Endpoint("PLAINTEXT", "127.0.0.1", 0),
        lambda _: lambda frame: [len(frame).to_bytes(4, "big"), bytes(frame)],
        limits=Limits(),
        admission=Admission(ConnectionLimits(), rates),
    )
    serving = asyncio.ensure_future(listener.serve())
    first, first_writer = await asyncio.open_connection("127.0.0.1", listener.port)
    second, second_writer = await asyncio.open_connection("127.0.0.1", listener.port)
    for writer in (first_writer, second_writer):
        writer.write(b"\0\0\0\1x")
    assert await first.readexactly(5) == b"\0\0\0\1x"
    await until(lambda: len(rates.addresses) == 2)
    await settled()
    assert rates.addresses == ["127.0.0.1"] * 2
    assert listener.connection_count == 1
    assert not second.at_eof()
    time.jump(0.6)
    with suppress(ConnectionResetError):
        assert await second.read() == b""
    third, third_writer = await asyncio.open_connection("127.0.0.1", listener.port)
    fourth, fourth_writer = await asyncio.open_connection("127.0.0.1", listener.port)
    await until(lambda: len(rates.addresses) == 4)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert await fourth.read() == b"", "whoever is kept is let go when the listener closes"
    for writer in (first_writer, second_writer, third_writer, fourth_writer):
        writer.close()
    assert await third.read() == b""


async def test_those_that_are_kept_waiting_are_not_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission_module, "HELD_MAX", 0)
    rates = EveryOther()
    rates.addresses.append("before")
    ours, theirs = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server:
        caller = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        assert Admission(ConnectionLimits(), rates).holds(accepted)
        assert caller.recv(1) == b""
        caller.close()
    assert not Admission(ConnectionLimits(), rates).holds(ours), "it has no address"
    ours.close()
    theirs.close()
