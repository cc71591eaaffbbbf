"""Passwords among the settings that are kept in the tree: encrypted, in Kafka's text form.

`initializationVector:…,keyLength:128,salt:…,keyFactoryAlgorithm:…,cipherAlgorithm:…,
iterations:4096,passwordLength:n,encryptedPassword:…`, the bytes in base64, in any order.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.config.values import config_error, invalid

CBC = "AES/CBC/PKCS5Padding"
GCM = "AES/GCM/NoPadding"
_DIGESTS = {
    "PBKDF2WithHmacSHA512": "sha512",
    "PBKDF2WithHmacSHA256": "sha256",
    "PBKDF2WithHmacSHA1": "sha1",
}
_KEY_FACTORY_DEFAULT = "PBKDF2WithHmacSHA512"
_KEY_BITS = (128, 192, 256)
_SALT_BYTES = 256
_VECTOR_BYTES = {CBC: 16, GCM: 12}
_BLOCK_BITS = 128
# Text from the tree must not be able to keep a broker busy.
_ITERATIONS_MAX = 10_000_000
_TEXT_MAX = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordEncoder:
    """Encrypts with the secret, and decrypts what was encrypted with it or with its predecessor."""

    secret: str = field(repr=False)
    key_factory: str = _KEY_FACTORY_DEFAULT
    cipher: str = CBC
    key_bits: int = 128
    iterations: int = 4096

    def __post_init__(self) -> None:
        if self.key_factory not in _DIGESTS:
            allowed = f"one of {', '.join(_DIGESTS)}"
            raise invalid("password.encoder.keyfactory.algorithm", self.key_factory, allowed)
        if self.cipher not in _VECTOR_BYTES:
            allowed = f"one of {', '.join(_VECTOR_BYTES)}"
            raise invalid("password.encoder.cipher.algorithm", self.cipher, allowed)
        if self.key_bits not in _KEY_BITS:
            allowed = f"one of {', '.join(map(str, _KEY_BITS))}"
            raise invalid("password.encoder.key.length", self.key_bits, allowed)

    def encode(self, password: str) -> str:
        """The text form; what is encrypted twice looks different each time."""
        salt = secrets.token_bytes(_SALT_BYTES)
        vector = secrets.token_bytes(_VECTOR_BYTES[self.cipher])
        key = _key(self.secret, _DIGESTS[self.key_factory], salt, self.iterations, self.key_bits)
        parts = {
            "keyFactoryAlgorithm": self.key_factory,
            "keyLength": str(self.key_bits),
            "salt": _base64(salt),
            "iterations": str(self.iterations),
            "cipherAlgorithm": self.cipher,
            "initializationVector": _base64(vector),
            "encryptedPassword": _base64(_encrypted(self.cipher, key, vector, password.encode())),
            "passwordLength": str(len(password)),
        }
        return ",".join(f"{name}:{value}" for name, value in parts.items())

    def decode(self, text: str) -> str:
        """The password; ValueError if the text is no such form, or of another secret."""
        parts = _parts(text)
        try:
            digest = _DIGESTS[parts["keyFactoryAlgorithm"]]
            bits, iterations = int(parts["keyLength"]), int(parts["iterations"])
            salt, vector, data = (
                base64.b64decode(parts[name], validate=True)
                for name in ("salt", "initializationVector", "encryptedPassword")
            )
            cipher, length = parts["cipherAlgorithm"], int(parts["passwordLength"])
        except (KeyError, binascii.Error) as error:
            raise ValueError(f"not an encoded password: {error}") from None
        if bits not in _KEY_BITS or not 0 < iterations <= _ITERATIONS_MAX:
            raise ValueError("not an encoded password: a number is out of bounds")
        key = _key(self.secret, digest, salt, iterations, bits)
        password = _decrypted(cipher, key, vector, data).decode()
        if len(password) != length:
            raise ValueError("it was encoded with another secret")
        return password


def _parts(text: str) -> Mapping[str, str]:
    if len(text) > _TEXT_MAX:
        raise ValueError("not an encoded password: it is too long")
    pairs = (part.partition(":") for part in text.split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _key(secret: str, digest: str, salt: bytes, iterations: int, bits: int) -> bytes:
    return hashlib.pbkdf2_hmac(digest, secret.encode(), salt, iterations, bits // 8)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _encrypted(cipher: str, key: bytes, vector: bytes, data: bytes) -> bytes:
    _require_package()
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
    from cryptography.hazmat.primitives.padding import PKCS7  # noqa: PLC0415

    if cipher == GCM:
        return AESGCM(key).encrypt(vector, data, None)
    padder = PKCS7(_BLOCK_BITS).padder()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    padded = padder.update(data) + padder.finalize()
    return encryptor.update(padded) + encryptor.finalize()


def _decrypted(cipher: str, key: bytes, vector: bytes, data: bytes) -> bytes:
    _require_package()
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
    from cryptography.hazmat.primitives.padding import PKCS7  # noqa: PLC0415

    if cipher == GCM:
        try:
            return AESGCM(key).decrypt(vector, data, None)
        except InvalidTag:
            raise ValueError("it was encoded with another secret") from None
    if cipher != CBC:
        raise ValueError(f"{cipher} is not known")
    decryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).decryptor()
    unpadder = PKCS7(_BLOCK_BITS).unpadder()
    try:
        padded = decryptor.update(data) + decryptor.finalize()
        return unpadder.update(padded) + unpadder.finalize()
    except ValueError:
        raise ValueError("it was encoded with another secret") from None


def _require_package() -> None:
    try:
        import cryptography  # noqa: F401, PLC0415
    except ImportError as error:
        reason = "secrets in the tree need the package cryptography: pip install 'moldau[tls]'"
        raise config_error(reason) from error
