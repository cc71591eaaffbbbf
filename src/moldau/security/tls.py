"""What TLS connections need, from Kafka's settings."""

import os
import ssl
import tempfile
from dataclasses import dataclass, field

from moldau.config.values import config_error, invalid
from moldau.security.key_stores import KeyStore, read_key_store

_VERSIONS = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
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


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """For connections to brokers; without a trust store those of the system are trusted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.endpoint_identification_algorithm.lower() == "https"
    _limit_versions(context, settings)
    _trust(context, settings)
    store = _own_store(settings)
    if store is not None:
        _present(context, store)
    return context


def _limit_versions(context: ssl.SSLContext, settings: TlsSettings) -> None:
    names = [name.strip() for name in settings.enabled_protocols.split(",")]
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown:
        raise invalid("ssl.enabled.protocols", unknown[0], f"of {', '.join(_VERSIONS)}")
    versions = [_VERSIONS[name] for name in names]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if settings.cipher_suites:
        try:
            context.set_ciphers(settings.cipher_suites.replace(",", ":"))
        except ssl.SSLError as error:
            raise config_error(f"ssl.cipher.suites: {error}") from error


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.truststore_certificates:
        _load_certificates(context, settings.truststore_certificates, "ssl.truststore.certificates")
    elif settings.truststore_location:
        store = read_key_store(
            settings.truststore_location,
            kind=settings.truststore_type,
            password=settings.truststore_password,
        )
        _load_certificates(context, store.certificates, settings.truststore_location)
    else:
        context.load_default_certs()


def _load_certificates(context: ssl.SSLContext, certificates: str, where: str) -> None:
    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError) as error:
        raise config_error(f"{where}: no certificates: {error}") from error


def _own_store(settings: TlsSettings) -> KeyStore | None:
    if settings.keystore_key:
        pem = f"{settings.keystore_key.strip()}\n{settings.keystore_certificate_chain.strip()}\n"
        return KeyStore(pem, settings.keystore_certificate_chain, settings.key_password)
    if not settings.keystore_location:
        return None
    password = settings.keystore_password or settings.key_password
    store = read_key_store(
        settings.keystore_location, kind=settings.keystore_type, password=password
    )
    if not store.key_and_chain:
        raise config_error(f"{settings.keystore_location} has no private key")
    return store


def _present(context: ssl.SSLContext, store: KeyStore) -> None:
    """Present one's certificate. The library wants a file: it exists for a moment, for us alone."""
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(store.key_and_chain)
        # A function, since with None the library would ask at the terminal.
        context.load_cert_chain(path, password=lambda: store.key_password)
    except ssl.SSLError as error:
        raise config_error(f"the private key or its certificates: {error}") from error
    finally:
        os.unlink(path)
