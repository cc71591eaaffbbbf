"""Files with keys and certificates: PEM as it is, PKCS#12 by way of `cryptography`."""

from dataclasses import dataclass, field
from pathlib import Path

from moldau.config.values import config_error

PEM = "PEM"
PKCS12 = "PKCS12"
JKS = "JKS"

_JKS_START = bytes.fromhex("feedfeed")
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


def read_key_store(path: str, *, kind: str = "", password: str = "") -> KeyStore:
    """What is in a file; InvalidConfig says what is wrong with it.

    The kind is found by looking, since Java's default, JKS, is not in use any more.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise config_error(f"{path}: {error.strerror or error}") from error
    found = _kind_of(data) or kind.upper()
    if found == PEM:
        return _read_pem(path, data, password)
    if found == PKCS12:
        return _read_pkcs12(path, data, password)
    if found == JKS:
        raise config_error(_jks_advice(path))
    raise config_error(f"{path} is neither PEM nor PKCS#12")


def _kind_of(data: bytes) -> str:
    if data.startswith((_JKS_START, _JCEKS_START)):
        return JKS
    if _PEM_START in data:
        return PEM
    return PKCS12 if data.startswith(_ASN1_SEQUENCE) else ""


def _jks_advice(path: str) -> str:
    target = str(Path(path).with_suffix(".p12"))
    return (
        f"{path} is a key store in Java's own format; convert it: keytool -importkeystore "
        f"-srckeystore {path} -destkeystore {target} -deststoretype PKCS12"
    )


def _read_pem(path: str, data: bytes, password: str) -> KeyStore:
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise config_error(f"{path} is not PEM: it has bytes that are no text") from None
    has_key = "PRIVATE KEY-----" in text
    return KeyStore(text if has_key else "", text, password)


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
    return KeyStore(key + "".join(certificates) if key else "", "".join(certificates))
