"""Listeners as settings describe them."""

from math import inf

from moldau.broker.dispatch import Dispatcher
from moldau.broker.listening import bind_all, connection_limits_of, registration_of
from moldau.broker.routes import ROUTES
from moldau.config.broker.startup import read_startup
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


def test_limits_of_connections_are_read_from_the_settings() -> None:
    settings = {
        "max.connections.per.ip": "3",
        "max.connections.per.ip.overrides": "127.0.0.1:7, [::1]:8,nowhere.invalid:9",
        "max.connection.creation.rate": "50",
    }
    limits = connection_limits_of(read_startup(settings).config)
    assert limits.connections_per_ip_max == 3
    assert limits.connections_max_by_ip == {"127.0.0.1": 7, "::1": 8}
    assert limits.connections_per_s == 50
    assert connection_limits_of(read_startup({}).config).connections_per_s == inf
