"""What TLS connections need, from Kafka's settings."""

import os
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field

from moldau.config.values import config_error, invalid, split_list
from moldau.security.cipher_suites import TLS_1_2, TLS_1_3
from moldau.security.key_stores import KeyStore, read_key_store

_VERSIONS = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_CLIENT_CERTIFICATES = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """Trusted certificates and one's own; the names are Kafka's without the `ssl_` in front."""

    truststore_location: str = ""
    truststore_password: str = field(default="", repr=False)
    truststore_type: str = ""
    truststore_certificates: str = ""
    keystore_location: str = ""
    keystore_password: str = field(default="", repr=False)
    keystore_type: str = ""
    keystore_key: str = field(default="", repr=False)
    keystore_certificate_chain: str = ""
    key_password: str = field(default="", repr=False)
    endpoint_identification_algorithm: str = "https"
    enabled_protocols: str = "TLSv1.2,TLSv1.3"
    cipher_suites: str = ""


def client_context(settings: TlsSettings, store: KeyStore | None = None) -> ssl.SSLContext:
    """For connections to brokers; without a trust store those of the system are trusted.

    `store` is one's own key, if it has been read already.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.endpoint_identification_algorithm.lower() == "https"
    _limit(context, settings)
    _trust(context, settings)
    own = store or own_store(settings)
    if own is not None:
        _present(context, own)
    return context


def server_context(
    settings: TlsSettings, *, client_auth: str = "none", store: KeyStore | None = None
) -> ssl.SSLContext:
    """For connections from clients; `client_auth` is Kafka's word for what is asked of them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _limit(context, settings)
    context.options |= ssl.OP_NO_RENEGOTIATION
    # A client that sends, and leaves with unread tickets, resets the connection, and what it
    # sent is lost on the way. Clients of Kafka keep their connections, and resume none.
    context.num_tickets = 0
    context.verify_mode = _CLIENT_CERTIFICATES[client_auth]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, settings)
    own = store or own_store(settings)
    if own is None:
        raise config_error(
            "TLS needs a key and its certificate: set ssl.keystore.location, or ssl.keystore.key "
            "and ssl.keystore.certificate.chain"
        )
    _present(context, own)
    return context


def own_store(settings: TlsSettings) -> KeyStore | None:
    """One's own key and certificates, if there are any."""
    chain = settings.keystore_certificate_chain.strip()
    if settings.keystore_key:
        if settings.keystore_location:
            raise config_error("ssl.keystore.location and ssl.keystore.key exclude each other")
        if not chain:
            raise config_error("ssl.keystore.key needs ssl.keystore.certificate.chain")
        pem = f"{settings.keystore_key.strip()}\n{chain}\n"
        return KeyStore(pem, chain, settings.key_password)
    if chain:
        raise config_error("ssl.keystore.certificate.chain needs ssl.keystore.key")
    if not settings.keystore_location:
        return None
    store = read_key_store(
        settings.keystore_location,
        kind=settings.keystore_type,
        password=settings.keystore_password,
        key_password=settings.key_password,
    )
    if not store.key_and_chain:
        raise config_error(f"{settings.keystore_location} has no private key")
    return store


def _limit(context: ssl.SSLContext, settings: TlsSettings) -> None:
    """Allow the versions and the cipher suites that the settings name, and no others."""
    names = [name.strip() for name in settings.enabled_protocols.split(",")]
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown:
        raise invalid("ssl.enabled.protocols", unknown[0], f"of {', '.join(_VERSIONS)}")
    suites = split_list(settings.cipher_suites)
    if suites:
        new = [suite for suite in suites if suite in TLS_1_3]
        old = [suite for suite in suites if suite not in TLS_1_3]
        # With Java, a version without a suite is one that is not spoken.
        names = [name for name in names if (new if name == "TLSv1.3" else old)]
        if not names:
            raise config_error("ssl.cipher.suites: there is none for ssl.enabled.protocols")
        if "TLSv1.3" in names:
            _choose_new(context, new)
        if "TLSv1.2" in names:
            _choose_old(context, old)
    versions = [_VERSIONS[name] for name in names]
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _choose_new(context: ssl.SSLContext, suites: Sequence[str]) -> None:
    choose = getattr(context, "set_ciphersuites", None)  # of Python 3.15
    if choose is not None:
        choose(":".join(suites))
    elif set(suites) != set(TLS_1_3):
        raise config_error(
            "ssl.cipher.suites: this version of Python cannot choose among those of TLS 1.3: "
            f"name all of {', '.join(TLS_1_3)}, or none of them to speak TLS 1.2 alone"
        )


def _choose_old(context: ssl.SSLContext, suites: Sequence[str]) -> None:
    """By the names of IANA, or by those of OpenSSL."""
    wanted = [TLS_1_2.get(suite, suite) for suite in suites]
    try:
        context.set_ciphers(":".join(wanted))
    except ssl.SSLError as error:
        raise config_error(f"ssl.cipher.suites: OpenSSL knows none of them: {error}") from error
    available = {suite["name"] for suite in context.get_ciphers()}
    missing = [suite for suite, name in zip(suites, wanted, strict=True) if name not in available]
    if missing:
        raise config_error(f"ssl.cipher.suites: OpenSSL does not offer {', '.join(missing)} here")


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.truststore_certificates and settings.truststore_location:
        raise config_error(
            "ssl.truststore.location and ssl.truststore.certificates exclude each other"
        )
    if settings.truststore_certificates:
        _load_certificates(context, settings.truststore_certificates, "ssl.truststore.certificates")
    elif settings.truststore_location:
        store = read_key_store(
            settings.truststore_location,
            kind=settings.truststore_type,
            password=settings.truststore_password,
            key_password=None,
        )
        _load_certificates(context, store.certificates, settings.truststore_location)
    else:
        context.load_default_certs(
            ssl.Purpose.SERVER_AUTH
            if context.protocol is ssl.PROTOCOL_TLS_CLIENT
            else ssl.Purpose.CLIENT_AUTH
        )


def _load_certificates(context: ssl.SSLContext, certificates: str, where: str) -> None:
    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError) as error:
        raise config_error(f"{where}: no certificates: {error}") from error
    # To Java, whatever is in a trust store is trusted, no matter who has issued it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _present(context: ssl.SSLContext, store: KeyStore) -> None:
    """Present one's certificate. The library wants a file: it is one in memory, if it can be."""
    try:
        if hasattr(os, "memfd_create"):
            with os.fdopen(os.memfd_create("key-and-chain"), "w") as file:
                file.write(store.key_and_chain)
                file.flush()
                _load(context, f"/dev/fd/{file.fileno()}", store)
        else:
            _present_from_file(context, store)
    except ssl.SSLError as error:
        raise config_error(f"the private key or its certificates: {error}") from error


def _present_from_file(context: ssl.SSLContext, store: KeyStore) -> None:
    """By way of a file that exists for a moment, for us alone."""
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(store.key_and_chain)
        _load(context, path, store)
    finally:
        os.unlink(path)


def _load(context: ssl.SSLContext, path: str, store: KeyStore) -> None:
    # A function, since with None the library would ask at the terminal.
    context.load_cert_chain(path, password=lambda: store.key_password)
