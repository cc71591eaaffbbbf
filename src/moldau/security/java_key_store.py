"""Java's own format of key stores, JKS.

The magic number, the version, the number of entries; then each entry: its tag, alias and time,
and a private key with its certificates or one trusted certificate. Numbers are big-endian, texts
as Java's `writeUTF` has them. SHA-1 of the password and all of that ends the file. A key is
PKCS#8, wrapped in an algorithm of Sun's: an XOR with a chain of SHA-1 over password and salt.
"""

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.security.der import OCTET_STRING, object_id, read_value

MAGIC = bytes.fromhex("feedfeed")

_KEY_TAG, _TRUSTED_TAG = 1, 2
_VERSIONS = (1, 2)
_DIGEST_BYTES = 20
_SUN_KEY_PROTECTOR = "1.3.6.1.4.1.42.2.17.1.1"
_WHITENER = b"Mighty Aphrodite"
_ENTRIES_MAX = 100_000


class JavaKey(NamedTuple):
    """An entry with a private key, which is still locked."""

    alias: str
    locked: bytes
    chain: list[bytes]


@dataclass(slots=True)
class JavaKeyStore:
    """What is in a file."""

    keys: list[JavaKey] = field(default_factory=list)
    trusted: list[bytes] = field(default_factory=list)
    """Certificates in DER."""


def read_jks(data: bytes, password: str) -> JavaKeyStore:
    """Read a store; ValueError if it is damaged, or the password is another.

    Without a password nothing is checked: trust stores are often read so.
    """
    body, seal = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if password:
        found = hashlib.sha1(_password_bytes(password) + _WHITENER + body).digest()  # noqa: S324
        if not hmac.compare_digest(found, seal):
            raise ValueError("it is damaged, or its password is another")
    reader = _Reader(body, len(MAGIC))
    version, count = reader.integer(), reader.integer()
    if version not in _VERSIONS or not 0 <= count <= _ENTRIES_MAX:
        raise ValueError("a version or a number of entries that there is not")
    store = JavaKeyStore()
    for _ in range(count):
        _read_entry(reader, version, store)
    return store


def unlock_key(key: JavaKey, password: str) -> bytes:
    """The private key in PKCS#8; ValueError if the password is another."""
    algorithm, locked = read_value(key.locked).values()
    if object_id(algorithm.values()[0]) != _SUN_KEY_PROTECTOR or locked.tag != OCTET_STRING:
        raise ValueError(f"the key {key.alias} is locked in a way that is not known")
    secret, data = _password_bytes(password), locked.contents
    if len(data) < 2 * _DIGEST_BYTES:
        raise ValueError(f"the key {key.alias} is cut off")
    link, data, check = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:-_DIGEST_BYTES], data[-20:]
    plain = bytearray()
    for start in range(0, len(data), _DIGEST_BYTES):
        link = hashlib.sha1(secret + link).digest()  # noqa: S324 - it is the format
        piece = data[start : start + _DIGEST_BYTES]
        plain += bytes(a ^ b for a, b in zip(piece, link, strict=False))
    found = hashlib.sha1(secret + plain).digest()  # noqa: S324
    if not hmac.compare_digest(found, check):
        raise ValueError(f"the password of the key {key.alias} is another")
    return bytes(plain)


def _read_entry(reader: "_Reader", version: int, store: JavaKeyStore) -> None:
    tag, alias = reader.integer(), reader.text()
    reader.take(8)  # when it was made
    if tag == _KEY_TAG:
        locked = reader.block()
        count = reader.integer()
        if not 0 <= count <= _ENTRIES_MAX:
            raise ValueError("a number of certificates that cannot be")
        chain = [_read_certificate(reader, version) for _ in range(count)]
        store.keys.append(JavaKey(alias, locked, chain))
    elif tag == _TRUSTED_TAG:
        store.trusted.append(_read_certificate(reader, version))
    else:
        raise ValueError(f"an entry of the kind {tag}, which there is not")


def _read_certificate(reader: "_Reader", version: int) -> bytes:
    if version > 1:
        reader.text()  # X.509
    return reader.block()


def _password_bytes(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


class _Reader:
    """Takes one part after the other from the front."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self._data) - self._position:
            raise ValueError("it is cut off")
        self._position += size
        return self._data[self._position - size : self._position]

    def integer(self) -> int:
        number: int = struct.unpack(">i", self.take(4))[0]
        return number

    def block(self) -> bytes:
        return self.take(self.integer())

    def text(self) -> str:
        (size,) = struct.unpack(">H", self.take(2))
        return self.take(size).decode("utf-8", "replace")
