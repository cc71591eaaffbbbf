"""Files with keys and certificates: PEM as it is, PKCS#12 by way of `cryptography`, JKS."""

import base64
import ssl
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from moldau.config.values import config_error, invalid
from moldau.security import java_key_store

PEM = "PEM"
PKCS12 = "PKCS12"
JKS = "JKS"

_JCEKS = "JCEKS"
_JCEKS_START = bytes.fromhex("cececece")
_PEM_START = b"-----BEGIN "
_ASN1_SEQUENCE = b"\x30"


@dataclass(frozen=True, slots=True)
class KeyStore:
    """A private key with the certificates of its owner, and certificates of others, as PEM."""

    key_and_chain: str = field(repr=False)
    """Empty if there is no key."""
    certificates: str = field(repr=False)
    key_password: str = field(default="", repr=False)
    alias: str = "kafka"
    """What the entry of the key is called; files that have no such names have Kafka's own."""

    @property
    def own_certificate(self) -> bytes:
        """The certificate of the key, in DER; ValueError if there is none."""
        begin = self.key_and_chain.find(_CERTIFICATE_BEGIN)
        end = self.key_and_chain.find(_CERTIFICATE_END, begin)
        if begin < 0 or end < 0:
            raise ValueError("there is no certificate beside the key")
        return ssl.PEM_cert_to_DER_cert(self.key_and_chain[begin : end + len(_CERTIFICATE_END)])


_CERTIFICATE_BEGIN = "-----BEGIN CERTIFICATE-----"
_CERTIFICATE_END = "-----END CERTIFICATE-----"


def read_key_store(
    path: str, *, kind: str = "", password: str = "", key_password: str | None = ""
) -> KeyStore:
    """What is in a file; InvalidConfig says what is wrong with it.

    The kind is found by looking: Java, too, reads PKCS#12 under the name of JKS, its default.
    A key without a password of its own has that of the store; with None, keys stay locked.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise config_error(f"{path}: {error.strerror or error}") from error
    if kind.upper() not in ("", PEM, PKCS12, JKS):
        raise invalid("the type of a key store", kind, f"one of {PEM}, {PKCS12}, {JKS}")
    found = _kind_of(data)
    if found == PEM:
        return _read_pem(path, data, key_password or password)
    if found == PKCS12:
        return _read_pkcs12(path, data, password or key_password or "")
    if found == JKS:
        own_password = None if key_password is None else key_password or password
        return _read_jks(path, data, password, own_password)
    if found == _JCEKS:
        raise config_error(_conversion_advice(path))
    raise config_error(f"{path} is neither PEM nor PKCS#12 nor JKS")


def _kind_of(data: bytes) -> str:
    if data.startswith(java_key_store.MAGIC):
        return JKS
    if data.startswith(_JCEKS_START):
        return _JCEKS
    if _PEM_START in data:
        return PEM
    return PKCS12 if data.startswith(_ASN1_SEQUENCE) else ""


def _conversion_advice(path: str) -> str:
    target = str(Path(path).with_suffix(".p12"))
    return (
        f"{path} is a key store in Java's format JCEKS; convert it: keytool -importkeystore "
        f"-srckeystore {path} -destkeystore {target} -deststoretype PKCS12"
    )


def _read_pem(path: str, data: bytes, password: str) -> KeyStore:
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise config_error(f"{path} is not PEM: it has bytes that are no text") from None
    has_key = "PRIVATE KEY-----" in text
    return KeyStore(text if has_key else "", text, password)


def _read_jks(path: str, data: bytes, password: str, key_password: str | None) -> KeyStore:
    try:
        store = java_key_store.read_jks(data, password)
        owned = [key.chain[0] for key in store.keys if key.chain]
        # As Java does: whom a key's certificate was issued by is not trusted for that.
        trusted = "".join(map(ssl.DER_cert_to_PEM_cert, (*owned, *store.trusted)))
        if not store.keys or key_password is None:
            return KeyStore("", trusted)
        key = store.keys[0]
        chain = "".join(map(ssl.DER_cert_to_PEM_cert, key.chain))
        own = _pem_of_key(java_key_store.unlock_key(key, key_password))
        return KeyStore(own + chain, trusted, alias=key.alias)
    except ValueError as error:
        raise config_error(f"{path} cannot be opened: {error}") from error


def _pem_of_key(pkcs8: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(pkcs8).decode(), 64)
    return "\n".join(("-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""))


def _read_pkcs12(path: str, data: bytes, password: str) -> KeyStore:
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError as error:
        reason = f"{path}: PKCS#12 needs the package cryptography: pip install 'moldau[tls]'"
        raise config_error(reason) from error
    try:
        store = pkcs12.load_pkcs12(data, password.encode() or None)
    except ValueError as error:
        raise config_error(f"{path} cannot be opened: {error}") from error
    own = [] if store.cert is None else [store.cert]
    certificates = [
        each.certificate.public_bytes(Encoding.PEM).decode()
        for each in (*own, *store.additional_certs)
    ]
    key = ""
    if store.key is not None:
        key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    alias = (store.cert.friendly_name if store.cert else None) or b""
    return KeyStore(
        key + "".join(certificates) if key else "",
        "".join(certificates),
        alias=alias.decode("utf-8", "replace") or "1",  # as Java names the first one without
    )
