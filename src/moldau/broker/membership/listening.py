"""The listeners of a broker, as its settings describe them."""

import logging
import socket
from collections.abc import Iterator, Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from moldau.broker.context import Client
from moldau.broker.dispatch import Dispatcher
from moldau.broker.login.gate import Gate, Gatekeeper
from moldau.broker.membership.advertised import WHERE_YOU_ARE
from moldau.broker.membership.securing import identify, mapping_of
from moldau.broker.routes import ROUTES
from moldau.config.broker.broker import BrokerConfig, broker_settings
from moldau.config.broker.startup import Startup
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import ListenerConfig, read_listeners
from moldau.config.values import INT_MAX
from moldau.config.versions import is_at_least
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.net.admission import Admission, ConnectionLimits, ListenerLimits, plain
from moldau.net.answer import Limits, Respond
from moldau.net.handshakes import Handshakes
from moldau.net.listener import Bind, Endpoint, Listener, listen
from moldau.net.request_memory import RequestMemory
from moldau.protocol.inter_broker import FEATURES_SINCE
from moldau.runtime.process import host_name
from moldau.security.principal_mapping import PrincipalMapping

if TYPE_CHECKING:
    from moldau.net.connection import Connection, Open

_log = logging.getLogger(__name__)


def bind_all(
    startup: Startup,
    dispatcher: Dispatcher,
    bind: Bind = listen,
    gatekeepers: Mapping[str, Gatekeeper] | None = None,
    handshakes: Mapping[str, Handshakes] | None = None,
) -> Iterator[Listener]:
    """Bind each listener; none of them accepts connections yet.

    `gatekeepers` are those of listeners whose clients log in by SASL, `handshakes` those of
    listeners with TLS, by name.
    """
    limits = _limits(startup.config)
    backlog = startup.config.network.socket_listen_backlog_size
    rates = dispatcher.quotas.connections
    admission = Admission(connection_limits_of(startup.config, startup.texts), rates)
    for one in startup.listeners.bound:
        listener = Listener(
            Endpoint(one.name, one.host, one.port),
            _opening(dispatcher, one, (gatekeepers or {}).get(one.name), mapping_of(startup, one)),
            limits=limits,
            admission=admission,
            bind=bind if backlog == _BACKLOG_DEFAULT else partial(_bind_with, bind, backlog),
        )
        listener.handshakes = (handshakes or {}).get(one.name)
        yield listener


def _bind_with(bind: Bind, backlog: int, host: str, port: int) -> socket.socket:
    listening = bind(host, port)
    listening.listen(backlog)
    return listening


def registration_of(
    startup: Startup, ports: Mapping[str, int], *, now_ms: int
) -> BrokerRegistration:
    """What the broker registers of itself; `ports` are those it got for its listeners."""
    advertised = startup.listeners.advertised
    endpoints = [
        RegisteredEndpoint(
            one.name, one.protocol.name, _advertised_host(startup, one), one.port or ports[one.name]
        )
        for one in advertised or startup.listeners.bound
    ]
    general = startup.config.general
    has_features = is_at_least(general.inter_broker_protocol_version, FEATURES_SINCE)
    return BrokerRegistration(
        endpoints=tuple(endpoints),
        timestamp_ms=now_ms,
        rack=general.broker_rack,
        version=5 if has_features else 4,
    )


def _advertised_host(startup: Startup, listener: ListenerConfig) -> str:
    if startup.config.is_standalone and startup.listeners.advertised is None:
        return WHERE_YOU_ARE
    return listener.host or host_name()


# Kafka's default of both, taken as not chosen, and what is measured to be better: with this much
# to send, sendfile takes two thirds of the processor time that it takes as the system tunes it,
# and with twice this much all of it again; receiving is best left to the system.
_SOCKET_BUFFER_DEFAULT_BYTES = 102_400
_SOCKET_SEND_BYTES = 307_200
# Kafka's default would turn away part of a fleet that calls at once: as many as the system allows.
_BACKLOG_DEFAULT = 50
_CONNECTIONS_PER_S_MIN = 1  # or no client could ever change it again


def _limits(config: BrokerConfig) -> Limits:
    memory_bytes = config.network.queued_max_request_bytes
    return Limits(
        request_memory=RequestMemory(memory_bytes) if memory_bytes > 0 else None,
        frame_size_bytes=config.network.socket_request_max_bytes,
        large_api_keys=frozenset(route.api.key for route in ROUTES if route.is_large),
        list_frame_size_bytes=config.limits.moldau_list_request_max_bytes,
        socket_send_bytes=_chosen(config.network.socket_send_buffer_bytes, _SOCKET_SEND_BYTES),
        socket_receive_bytes=_chosen(config.network.socket_receive_buffer_bytes, None),
        receive_buffer_bytes=config.limits.moldau_receive_buffer_bytes,
        unsent_bytes=config.limits.moldau_send_buffer_bytes,
        sendfile_threshold_bytes=config.limits.moldau_sendfile_threshold_bytes,
        requests_per_turn=config.limits.moldau_requests_per_turn,
    )


def _chosen(size: int, otherwise: int | None) -> int | None:
    """A socket buffer as the settings ask for it; -1 is the operating system's own choice."""
    if size == _SOCKET_BUFFER_DEFAULT_BYTES:
        return otherwise
    return None if size < 0 else size


def connection_limits_of(config: BrokerConfig, texts: Mapping[str, str]) -> ConnectionLimits:
    """What the settings, some of which may change while the broker runs, say about clients."""
    network = config.network
    listeners = read_listeners(network, texts)
    is_alone = len(listeners.bound) == 1
    idle_ms = network.connections_max_idle_ms
    return ConnectionLimits(
        connections_max=network.max_connections,
        connections_per_ip_max=network.max_connections_per_ip,
        connections_max_by_ip=dict(_by_address(network.max_connections_per_ip_overrides)),
        connections_per_s=_rate(network.max_connection_creation_rate),
        of_listeners={one.name.lower(): _own_limits(one, texts) for one in listeners.bound},
        protected_listener=None if is_alone else listeners.inter_broker_name,
        idle_s=inf if idle_ms < 0 else idle_ms / 1000,
        frame_s=config.limits.moldau_frame_timeout_ms / 1000,
        write_stall_s=config.limits.moldau_write_stall_timeout_ms / 1000,
        handshake_s=config.limits.moldau_handshake_timeout_ms / 1000,
    )


def _own_limits(listener: ListenerConfig, texts: Mapping[str, str]) -> ListenerLimits:
    """What is set for this listener alone, as KIP-402 and KIP-612 have it."""
    settings = ListenerSettings(texts, listener.name)

    def own(name: str) -> int:
        text = settings.own_text(name)
        value = INT_MAX if text is None else broker_settings()[name].parse(text)
        assert isinstance(value, int)
        return value

    return ListenerLimits(own("max.connections"), _rate(own("max.connection.creation.rate")))


def _rate(setting: int) -> float:
    return inf if setting == INT_MAX else max(setting, _CONNECTIONS_PER_S_MIN)


def _by_address(overrides: str) -> Iterator[tuple[str, int]]:
    """`host:count` pairs; a name stands for all its addresses, one that is not known for none."""
    for pair in filter(None, map(str.strip, overrides.split(","))):
        host, _, count = pair.rpartition(":")
        try:
            found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
        except OSError as error:
            _log.warning("max.connections.per.ip.overrides: %s: %s", host, error)
            continue
        for _, _, _, _, address in found:
            yield str(address[0]), int(count)


def _opening(
    dispatcher: Dispatcher,
    config: ListenerConfig,
    gatekeeper: Gatekeeper | None,
    mapping: PrincipalMapping | None,
) -> "Open":
    def opening(connection: "Connection") -> Respond:
        peer = connection.transport.get_extra_info("peername") or ("", 0)
        local = connection.transport.get_extra_info("sockname") or ("", 0)
        host, local_host = plain(peer[0]), plain(local[0])
        client = Client(config.name, host, local_host, local[1], config.protocol)
        client.mute = connection.mute
        if gatekeeper is not None:
            return Gate(gatekeeper, dispatcher, client, connection).respond
        if mapping is not None:
            identify(connection, client, mapping)
        return partial(dispatcher.respond, client)

    return opening
