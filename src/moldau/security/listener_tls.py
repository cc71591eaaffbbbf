"""TLS of one listener: its settings, keys and trust, as they were when it was made."""

import logging
import os
import ssl
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import SecurityProtocol
from moldau.config.values import Password, config_error, to_text
from moldau.security.distinguished_names import alternative_names, subject_name
from moldau.security.key_stores import KeyStore
from moldau.security.tls import TlsSettings, client_context, own_store, server_context

OVER_TLS = (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)
_log = logging.getLogger(__name__)

_SETTINGS = {
    "truststore_location": "ssl.truststore.location",
    "truststore_password": "ssl.truststore.password",
    "truststore_type": "ssl.truststore.type",
    "truststore_certificates": "ssl.truststore.certificates",
    "keystore_location": "ssl.keystore.location",
    "keystore_password": "ssl.keystore.password",
    "keystore_type": "ssl.keystore.type",
    "keystore_key": "ssl.keystore.key",
    "keystore_certificate_chain": "ssl.keystore.certificate.chain",
    "key_password": "ssl.key.password",
    "endpoint_identification_algorithm": "ssl.endpoint.identification.algorithm",
    "enabled_protocols": "ssl.enabled.protocols",
    "cipher_suites": "ssl.cipher.suites",
}
READ_BY_LISTENERS = frozenset((*_SETTINGS.values(), "ssl.client.auth"))
"""Settings that a listener's TLS is made from, also while it runs."""
_NAME = "localhost"  # of no consequence: names are not checked where keys are


@dataclass(frozen=True, slots=True)
class Stamp:
    """What shows whether a file has been replaced."""

    path: str
    modified_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class TlsSource:
    """What a listener's TLS is made from; equal sources make the same."""

    settings: TlsSettings
    client_auth: str
    stamps: tuple[Stamp, ...]


@dataclass(frozen=True, slots=True)
class ListenerTls:
    """Ready for connections of clients, and for those to the same listener of other brokers."""

    source: TlsSource
    store: KeyStore
    server: ssl.SSLContext
    client: ssl.SSLContext


def source_of(listener: ListenerSettings, protocol: SecurityProtocol) -> TlsSource:
    """What the settings say now, and which files there are."""
    texts = {field: _text(listener, name) for field, name in _SETTINGS.items()}
    settings = TlsSettings(**texts)
    return TlsSource(settings, client_auth_of(listener, protocol), tuple(_stamps(settings)))


def client_auth_of(listener: ListenerSettings, protocol: SecurityProtocol) -> str:
    """Whether clients are asked for a certificate.

    Where they say by SASL who they are, only the listener's own setting counts, as with Kafka.
    """
    value = listener.value("ssl.client.auth")
    if protocol is SecurityProtocol.SASL_SSL and listener.own_text("ssl.client.auth") is None:
        return "none"
    assert isinstance(value, str)
    return value


def make_tls(source: TlsSource) -> ListenerTls:
    """Read the files; InvalidConfig says what is wrong with them."""
    store = own_store(source.settings)
    server = server_context(source.settings, client_auth=source.client_auth, store=store)
    assert store is not None, "a server has a key"
    try:
        subject_name(store.own_certificate)
    except ValueError as error:
        raise config_error(f"the certificate of the key store: {error}") from error
    _warn_of_readers(source.settings.keystore_location)
    return ListenerTls(source, store, server, client_context(source.settings, store))


def _warn_of_readers(path: str) -> None:
    """Another process with the key can pretend to be this broker."""
    if path and os.stat(path).st_mode & stat.S_IROTH:
        _log.warning("Every user of this machine can read the private key in %s: chmod 600", path)


def require_same_owner(
    old: ListenerTls, new: ListenerTls, *, may_name_change: bool, may_names_go: bool
) -> None:
    """Raise InvalidConfig if a key store is of another owner than the one that it replaces."""
    before, after = old.store, new.store
    names = [subject_name(store.own_certificate) for store in (before, after)]
    if not may_name_change and names[0].lower() != names[1].lower():
        raise config_error(
            "Keystore DistinguishedName does not match:  "
            f"existing={{alias={before.alias}, DN={names[0]}}}, "
            f"new={{alias={after.alias}, DN={names[1]}}}"
        )
    others = [alternative_names(store.own_certificate) for store in (before, after)]
    if not may_names_go and not others[0] <= others[1]:
        raise config_error(
            f"Keystore SubjectAltNames do not match:  existing={{alias={before.alias}, "
            f"SAN={_shown(others[0])}}}, new={{alias={after.alias}, SAN={_shown(others[1])}}}"
        )


def require_agreement(one: ListenerTls, other: ListenerTls) -> None:
    """Raise InvalidConfig unless brokers with these could connect to each other."""
    for server, client in ((one, other), (other, one)):
        try:
            _shake_hands(server.server, client.client)
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", "") or error.reason or str(error)
            raise config_error(
                "A client SSLEngine created with the provided settings can't connect to a server "
                f"SSLEngine created with those settings: {reason}; brokers connect to this "
                "listener of each other: let ssl.truststore trust the key store's certificate"
            ) from error


def _shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    is_named = client.check_hostname
    client.check_hostname = False  # which address others will connect to is not known here
    try:
        ends = (
            client.wrap_bio(down, up, server_hostname=_NAME),
            server.wrap_bio(up, down, server_side=True),
        )
        for _ in range(3):  # with TLS 1.2, the longer way
            for end in ends:
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
    finally:
        client.check_hostname = is_named


def _text(listener: ListenerSettings, name: str) -> str:
    value = listener.value(name)
    return value.reveal() if isinstance(value, Password) else to_text(value) or ""


def _stamps(settings: TlsSettings) -> Iterator[Stamp]:
    for path in filter(None, (settings.keystore_location, settings.truststore_location)):
        with suppress(OSError):  # which is reported where the file is read
            found = os.stat(path)
            yield Stamp(path, found.st_mtime_ns, found.st_size)


def _shown(names: frozenset[bytes]) -> list[str]:
    return sorted(name.hex() for name in names)


def refuse_unfit(listener: ListenerSettings) -> None:
    """Raise InvalidConfig for settings that would protect, and cannot be honoured."""
    for name in ("ssl.engine.factory.class", "ssl.provider"):
        if listener.text(name):
            raise config_error(
                f"{name}: Java classes and providers cannot be loaded; remove the setting, and "
                "give keys and trust by ssl.keystore.* and ssl.truststore.*"
            )
