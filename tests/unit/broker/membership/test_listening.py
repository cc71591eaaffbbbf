"""Listeners as settings describe them."""

import socket
import struct
import sys
from math import inf

import pytest

from moldau.broker.dispatch import Dispatcher
from moldau.broker.membership.listening import bind_all, connection_limits_of, registration_of
from moldau.broker.routes import ROUTES
from moldau.config.broker.startup import read_startup
from moldau.errors import KafkaError
from moldau.net.admission import ConnectionLimits, ListenerLimits
from moldau.net.listener import listen
from moldau.runtime.clock import SystemClock
from moldau.runtime.metrics import Metrics

TWO = {
    "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
    "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
    "inter.broker.listener.name": "INSIDE",
    "broker.rack": "r1",
}


async def test_every_listener_gets_a_port() -> None:
    dispatcher = Dispatcher(ROUTES, None, clock=SystemClock(), metrics=Metrics())
    listeners = list(bind_all(read_startup(TWO), dispatcher))
    try:
        assert [listener.endpoint.name for listener in listeners] == ["INSIDE", "OUTSIDE"]
        assert len({listener.port for listener in listeners}) == 2
        assert all(listener.port > 0 for listener in listeners)
    finally:
        for listener in listeners:
            listener.close()


def test_without_advertised_listeners_no_host_is_told() -> None:
    node = registration_of(read_startup(TWO), {"INSIDE": 5, "OUTSIDE": 6}, now_ms=9)
    assert [(one.listener, one.host, one.port) for one in node.endpoints] == [
        ("INSIDE", "", 5),
        ("OUTSIDE", "", 6),
    ]
    assert (node.rack, node.timestamp_ms) == ("r1", 9)


def test_advertised_listeners_are_told_as_they_are() -> None:
    settings = {**TWO, "advertised.listeners": "INSIDE://in:1,OUTSIDE://out:2"}
    node = registration_of(read_startup(settings), {"INSIDE": 5, "OUTSIDE": 6}, now_ms=9)
    assert [(one.listener, one.host, one.port) for one in node.endpoints] == [
        ("INSIDE", "in", 1),
        ("OUTSIDE", "out", 2),
    ]


def limits_with(settings: dict[str, str]) -> ConnectionLimits:
    return connection_limits_of(read_startup(settings).config, settings)


def test_without_a_time_nobody_is_idle_for_too_long() -> None:
    assert limits_with({"connections.max.idle.ms": "-1"}).idle_s == inf
    assert limits_with({"connections.max.idle.ms": "1500"}).idle_s == 1.5


def test_a_listener_may_have_limits_of_its_own_and_that_of_the_brokers_is_protected() -> None:
    limits = limits_with(
        {
            **TWO,
            "listener.name.outside.max.connections": "5",
            "listener.name.inside.max.connection.creation.rate": "7",
        }
    )
    assert limits.of_listeners == {
        "inside": ListenerLimits(connections_per_s=7),
        "outside": ListenerLimits(connections_max=5),
    }
    assert limits.protected_listener == "INSIDE"
    assert limits_with({}).protected_listener is None
    with pytest.raises(KafkaError, match=r"max\.connections"):
        limits_with({"listener.name.plaintext.max.connections": "many"})


def test_limits_of_connections_are_read_from_the_settings() -> None:
    settings = {
        "max.connections.per.ip": "3",
        "max.connections.per.ip.overrides": "127.0.0.1:7, [::1]:8,nowhere.invalid:9",
        "max.connection.creation.rate": "50",
    }
    limits = limits_with(settings)
    assert limits.connections_per_ip_max == 3
    assert limits.connections_max_by_ip == {"127.0.0.1": 7, "::1": 8}
    assert limits.connections_per_s == 50
    assert limits_with({}).connections_per_s == inf


@pytest.mark.skipif(sys.platform != "linux", reason="nobody else tells the backlog")
async def test_as_many_may_wait_to_be_accepted_as_is_set() -> None:
    dispatcher = Dispatcher(ROUTES, None, clock=SystemClock(), metrics=Metrics())
    made = []

    def bind(host: str, port: int) -> socket.socket:
        made.append(listen(host, port))
        return made[-1]

    settings = {"listeners": "PLAINTEXT://127.0.0.1:0", "socket.listen.backlog.size": "7"}
    (listener,) = bind_all(read_startup(settings), dispatcher, bind)
    try:
        told = made[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        assert struct.unpack_from("I", told, 28) == (7,)
    finally:
        listener.close()
