"""Listeners: names, addresses and roles."""

import pytest

from moldau.config.broker.network import NetworkConfig
from moldau.config.definition import read
from moldau.config.listeners import (
    ListenerConfig,
    Listeners,
    SecurityProtocol,
    check_advertised_to_brokers,
    parse_map,
    read_listeners,
)
from moldau.errors import InvalidConfig


def _read(**texts: str) -> Listeners:
    named = {name.replace("_", "."): text for name, text in texts.items()}
    return read_listeners(read(NetworkConfig, named), named)


def test_without_settings_there_is_one_plain_listener_on_every_interface() -> None:
    listeners = _read()
    assert listeners.bound == (ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "", 9092),)
    assert listeners.advertised is None
    assert listeners.inter_broker_name == "PLAINTEXT"
    assert listeners.control_plane_name is None


def test_names_are_taken_in_any_case_and_mapped_to_protocols() -> None:
    listeners = _read(
        listeners="internal://127.0.0.1:9092, External://:9093",
        listener_security_protocol_map="INTERNAL:plaintext,external:SASL_SSL",
        inter_broker_listener_name="Internal",
        advertised_listeners="EXTERNAL://broker.example.org:19093,INTERNAL://127.0.0.1:9092",
        control_plane_listener_name="external",
    )
    assert [(each.name, each.protocol.name) for each in listeners.bound] == [
        ("INTERNAL", "PLAINTEXT"),
        ("EXTERNAL", "SASL_SSL"),
    ]
    assert listeners.inter_broker_name == "INTERNAL"
    assert listeners.control_plane_name == "EXTERNAL"
    assert listeners.advertised is not None
    assert str(listeners.advertised[0]) == "EXTERNAL://broker.example.org:19093"


def test_an_ipv6_address_stands_in_brackets_and_may_share_the_port_of_an_ipv4_one() -> None:
    listeners = _read(listeners="PLAINTEXT://127.0.0.1:9092,SSL://[::1]:9092")
    assert listeners.bound[1].host == "::1"
    assert str(listeners.bound[1]) == "SSL://[::1]:9092"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"listeners": "localhost:9092"}, "must be NAME://host:port"),
        ({"listeners": "PLAINTEXT://h:70000"}, "port between 0 and 65535"),
        ({"listeners": " "}, "at least one"),
        ({"listeners": "A://:1"}, "listener.security.protocol.map defines .SASL_SSL, PLAINTEXT"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "different name"),
        ({"listeners": "PLAINTEXT://a:1,SSL://b:1"}, "different port"),
        ({"listener_security_protocol_map": "A:FOO"}, "out of PLAINTEXT, SSL, SASL_PLAINTEXT"),
        ({"listener_security_protocol_map": "A"}, "pairs key:value"),
        ({"advertised_listeners": "PLAINTEXT://0.0.0.0:1"}, "that clients can reach"),
        ({"advertised_listeners": "SSL://h:1"}, "listeners out of PLAINTEXT"),
        ({"advertised_listeners": ""}, "at least one"),
        ({"inter_broker_listener_name": "X"}, "one of SASL_SSL, PLAINTEXT"),
        ({"inter_broker_listener_name": "SSL"}, "inter.broker.listener.name: must be one of PLAIN"),
        ({"security_inter_broker_protocol": "SSL"}, "security.inter.broker.protocol: must be one"),
        (
            {
                "inter_broker_listener_name": "PLAINTEXT",
                "security_inter_broker_protocol": "PLAINTEXT",
            },
            "Only one of",
        ),
        ({"control_plane_listener_name": "PLAINTEXT"}, "another listener than"),
        ({"control_plane_listener_name": "Q"}, "control.plane.listener.name: must be one of"),
        ({"early_start_listeners": "PLAINTEXT,Z"}, "value Z for .* out of PLAINTEXT"),
    ],
)
def test_listeners_that_do_not_fit_are_refused_with_what_would(
    texts: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidConfig, match=words):
        _read(**texts)


def test_a_cluster_cannot_be_told_every_interface() -> None:
    listeners = _read(listeners="PLAINTEXT://0.0.0.0:9092")
    with pytest.raises(InvalidConfig, match=r"advertised.listeners: .* 0.0.0.0 is not"):
        check_advertised_to_brokers(listeners)
    check_advertised_to_brokers(_read())


def test_a_map_splits_at_the_last_colon() -> None:
    assert parse_map("key", "::1:5, h:6,") == {"::1": "5", "h": "6"}
    assert parse_map("key", "") == {}


def test_a_long_row_of_blanks_is_not_tried_over_and_over() -> None:
    blanks = " " * 200_000
    assert parse_map("name", f"a:1{blanks},{blanks}b:2") == {"a": "1", "b": "2"}
    with pytest.raises(InvalidConfig):
        parse_map("name", f"a{blanks}b")
