"""Listeners: where the broker listens, what it advertises, which one brokers use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from moldau.config.broker.network import NetworkConfig
from moldau.config.values import config_error, invalid, split_list

LOOPBACK = "localhost"
"""The host of listeners for this machine alone."""


class SecurityProtocol(IntEnum):
    """What a listener speaks, numbered as the broker protocol does."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


@dataclass(frozen=True, slots=True)
class ListenerConfig:
    """One named address."""

    name: str
    protocol: SecurityProtocol
    host: str
    """Empty: every interface, or this machine's name when it is advertised."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Every listener of a broker."""

    bound: tuple[ListenerConfig, ...]
    advertised: tuple[ListenerConfig, ...] | None
    """None: nothing was set; a broker on the embedded store then advertises to each client
    the address that it came in on, others advertise `bound`."""
    inter_broker_name: str
    control_plane_name: str | None


def read_listeners(network: NetworkConfig, texts: Mapping[str, str]) -> Listeners:
    """The listeners that a broker's settings describe; InvalidConfig for what Kafka refuses.

    `texts` are the settings as given: whether a setting was given matters here.
    """
    protocols = _protocol_map(network.listener_security_protocol_map)
    bound = _parse_list("listeners", network.listeners, protocols)
    if not bound:
        raise invalid("listeners", network.listeners, "at least one NAME://host:port")
    _check_ports(network.listeners, bound)
    listeners = Listeners(
        bound=bound,
        advertised=_advertised(network, protocols, bound),
        inter_broker_name=_inter_broker_name(network, protocols, texts),
        control_plane_name=_control_plane_name(network, protocols),
    )
    _check_roles(network, listeners)
    return listeners


def check_advertised_to_brokers(listeners: Listeners) -> None:
    """Refuse what could not be advertised to other brokers; for a cluster, where all are."""
    for listener in listeners.advertised or listeners.bound:
        if listener.host == _EVERY_INTERFACE:
            raise invalid(
                "advertised.listeners",
                listener,
                f"an address that others can reach, {_EVERY_INTERFACE} is not",
            )


def parse_map(setting: str, text: str) -> dict[str, str]:
    """Pairs `key:value` separated by commas; the key may itself contain colons."""
    pairs = {}
    for element in filter(None, split_list(text.strip())):
        key, colon, value = element.rpartition(":")
        if not colon:
            raise invalid(setting, text, "pairs key:value separated by commas")
        pairs[key.strip()] = value.strip()
    return pairs


_EVERY_INTERFACE = "0.0.0.0"  # noqa: S104 - only compared with
_ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_IPV4 = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")


def _protocol_map(text: str) -> dict[str, SecurityProtocol]:
    setting = "listener.security.protocol.map"
    protocols = {}
    for name, protocol in parse_map(setting, text).items():
        if protocol.upper() not in SecurityProtocol.__members__:
            allowed = ", ".join(SecurityProtocol.__members__)
            raise invalid(setting, text, f"pairs NAME:PROTOCOL with a protocol out of {allowed}")
        protocols[name.upper()] = SecurityProtocol[protocol.upper()]
    return protocols


def _parse_list(
    setting: str, text: str, protocols: Mapping[str, SecurityProtocol]
) -> tuple[ListenerConfig, ...]:
    found = tuple(
        _parse_one(setting, element, protocols)
        for element in filter(None, split_list(text.strip()))
    )
    if len({listener.name for listener in found}) < len(found):
        raise invalid(setting, text, "a list in which each listener has a different name")
    return found


def _parse_one(
    setting: str, text: str, protocols: Mapping[str, SecurityProtocol]
) -> ListenerConfig:
    match = _ENDPOINT.fullmatch(text)
    if match is None or not 0 <= int(match[3]) <= 65535:
        raise invalid(setting, text, "NAME://host:port with a port between 0 and 65535")
    name = match[1].upper()
    if name not in protocols:
        known = ", ".join(protocols)
        raise invalid(
            setting, text, f"a name that listener.security.protocol.map defines ({known})"
        )
    return ListenerConfig(name, protocols[name], match[2], int(match[3]))


def _check_ports(text: str, bound: tuple[ListenerConfig, ...]) -> None:
    by_port: dict[int, list[ListenerConfig]] = {}
    for listener in bound:
        if listener.port != 0:
            by_port.setdefault(listener.port, []).append(listener)
    for sharing in by_port.values():
        families = sorted(_family(listener.host) for listener in sharing)
        # One IPv4 and one IPv6 address may share a port (KIP-797).
        if len(sharing) > 1 and families != [4, 6]:
            raise invalid("listeners", text, "a list in which each listener has a different port")


def _family(host: str) -> int:
    """4 or 6 for an address of that family, 0 for a name."""
    if ":" in host:
        return 6
    return 4 if _IPV4.fullmatch(host) else 0


def _advertised(
    network: NetworkConfig,
    protocols: Mapping[str, SecurityProtocol],
    bound: tuple[ListenerConfig, ...],
) -> tuple[ListenerConfig, ...] | None:
    text = network.advertised_listeners
    if text is None:
        return None
    advertised = _parse_list("advertised.listeners", text, protocols)
    if not advertised:
        raise invalid("advertised.listeners", text, "at least one NAME://host:port")
    names = ", ".join(listener.name for listener in bound)
    for listener in advertised:
        if listener.host == _EVERY_INTERFACE:
            raise invalid("advertised.listeners", text, "an address that clients can reach")
        if all(listener.name != other.name for other in bound):
            raise invalid("advertised.listeners", text, f"listeners out of {names}")
    return advertised


def _inter_broker_name(
    network: NetworkConfig, protocols: Mapping[str, SecurityProtocol], texts: Mapping[str, str]
) -> str:
    name = network.inter_broker_listener_name
    if name is None:
        return network.security_inter_broker_protocol
    if "security.inter.broker.protocol" in texts:
        raise config_error(
            "Only one of inter.broker.listener.name and security.inter.broker.protocol "
            "should be set."
        )
    return _known_name("inter.broker.listener.name", name, protocols)


def _control_plane_name(
    network: NetworkConfig, protocols: Mapping[str, SecurityProtocol]
) -> str | None:
    name = network.control_plane_listener_name
    if name is None:
        return None
    return _known_name("control.plane.listener.name", name, protocols)


def _known_name(setting: str, name: str, protocols: Mapping[str, SecurityProtocol]) -> str:
    if name.upper() not in protocols:
        raise invalid(setting, name, f"one of {', '.join(protocols)}")
    return name.upper()


def _check_roles(network: NetworkConfig, listeners: Listeners) -> None:
    advertised = [listener.name for listener in listeners.advertised or listeners.bound]
    if listeners.inter_broker_name not in advertised:
        setting = "inter.broker.listener.name"
        if network.inter_broker_listener_name is None:
            setting = "security.inter.broker.protocol"
        raise invalid(setting, listeners.inter_broker_name, f"one of {', '.join(advertised)}")
    if listeners.control_plane_name == listeners.inter_broker_name:
        raise invalid(
            "control.plane.listener.name",
            listeners.control_plane_name,
            "another listener than inter.broker.listener.name",
        )
    bound = [listener.name for listener in listeners.bound]
    for name in filter(None, split_list(network.early_start_listeners or "")):
        if name.upper() not in bound:
            raise invalid("early.start.listeners", name, f"listeners out of {', '.join(bound)}")
