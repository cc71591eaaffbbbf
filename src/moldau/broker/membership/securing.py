"""TLS in front of this broker's listeners: handshakes, and who a client is by its certificate."""

from typing import TYPE_CHECKING, cast

from moldau.broker.broker import Broker
from moldau.broker.context import Client
from moldau.broker.settings.configs import Configs
from moldau.broker.settings.key_stores import KeyStores
from moldau.broker.settings.start_only import StartOnly
from moldau.broker.settings.vain_changes import refuse_vain_changes
from moldau.config.broker.startup import Startup
from moldau.config.effective import BrokerLayers
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import ListenerConfig, SecurityProtocol
from moldau.net.handshakes import Handshakes
from moldau.security.distinguished_names import subject_name
from moldau.security.principal_mapping import SETTING, PrincipalMapping, read_mapping
from moldau.security.principals import USER, Principal

if TYPE_CHECKING:
    from moldau.net.connection import Connection
    from moldau.net.tls_transport import TlsTransport


def open_key_stores(startup: Startup, configs: Configs) -> KeyStores:
    """Keys and trust of the listeners; from now on, changes to their settings are checked."""
    key_stores = KeyStores(startup.listeners, configs.layers)
    start_only = StartOnly((one.name for one in startup.listeners.bound), configs.layers)

    async def verify(changed: BrokerLayers) -> None:
        start_only.refuse_changes(configs.layers, changed)
        refuse_vain_changes(configs.layers, changed)
        await key_stores.check(changed)

    configs.verify_broker = verify
    return key_stores


def make_handshakes(broker: Broker, startup: Startup) -> dict[str, Handshakes]:
    """Those of each listener that has TLS, by its name."""
    found = {}
    for listener in startup.listeners.bound:
        context = broker.key_stores.server_context(listener.name)
        if context is not None:
            failures = broker.metrics.counter(
                "kafka_server_socket_server_metrics_failed_authentication_total",
                "Connections that ended because the client could not say who it is.",
                listener=listener.name,
                networkProcessor="0",
            )
            delay_ms = startup.config.network.connection_failed_authentication_delay_ms
            found[listener.name] = Handshakes(
                context, failure_delay_s=delay_ms / 1000, count_failure=failures.add
            )
    return found


def mapping_of(startup: Startup, listener: ListenerConfig) -> PrincipalMapping | None:
    """How certificates of this listener's clients become names; None if they say it by SASL."""
    if listener.protocol is not SecurityProtocol.SSL:
        return None
    rules = ListenerSettings(startup.texts, listener.name).value(SETTING)
    assert isinstance(rules, str)
    return read_mapping(rules)


def identify(connection: "Connection", client: Client, mapping: PrincipalMapping) -> None:
    """Let a client be whom its certificate names, as soon as the handshake has shown it."""
    connection.unknown_since_s = connection.last_activity_s
    transport = cast("TlsTransport", connection.transport)

    def secured() -> None:
        connection.unknown_since_s = None
        certificate = transport.get_extra_info("peercert_der")
        if certificate is not None:
            client.principal = principal_of(certificate, mapping)

    transport.on_secure = secured


def principal_of(certificate: bytes, mapping: PrincipalMapping) -> Principal:
    """Whom a certificate, in DER, names; PermissionError if that is nobody."""
    try:
        name = subject_name(certificate)
    except ValueError as error:
        raise PermissionError(f"the certificate cannot be read: {error}") from error
    return Principal(USER, mapping.name_of(name))
