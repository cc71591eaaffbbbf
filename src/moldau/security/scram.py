"""SCRAM (RFC 5802): both sides know the password, and prove it without saying it.

The client begins with its name and a nonce; the server answers with more nonce, a salt and a
number of iterations; the client proves that it knows the salted password, then the server
proves the same. Nonces come from outside, so that an exchange can be repeated.

Kafka takes passwords as they are (no SASLprep), knows no channel binding, and marks a
delegation token by `tokenauth=true` among the client's first words (KIP-48).
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from moldau.security.exchange import refused

MECHANISMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS_MIN = 4096
_NO_BINDING = "n,,"
_DIGITS_MAX = 18  # int() raises for thousands
_BINDING = base64.b64encode(_NO_BINDING.encode()).decode()


@dataclass(frozen=True, slots=True)
class ScramSecret:
    """What a server keeps of a password."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of_salted(
        cls, mechanism: str, salted: bytes, *, salt: bytes, iterations: int
    ) -> "ScramSecret":
        """From a salted password, as AlterUserScramCredentials carries it."""
        name = MECHANISMS[mechanism]
        client_key = hmac.digest(salted, b"Client Key", name)
        stored_key = hashlib.new(name, client_key).digest()
        server_key = hmac.digest(salted, b"Server Key", name)
        return cls(salt, iterations, stored_key, server_key)


FindSecret = Callable[[str, bool], ScramSecret | None]
"""The secret of a user, or of a delegation token's id if the flag says so."""


def salted_password(mechanism: str, password: str, *, salt: bytes, iterations: int) -> bytes:
    """The password as both sides use it."""
    return hashlib.pbkdf2_hmac(MECHANISMS[mechanism], password.encode(), salt, iterations)


class ScramClient:
    """The client's side: *begun*, *proving*, *complete*; only `answer` moves it on."""

    def __init__(
        self, mechanism: str, user: str, password: str, nonce: str, *, is_token: bool = False
    ) -> None:
        assert mechanism in MECHANISMS, mechanism
        self.mechanism = mechanism
        self.is_complete = False
        self._password = password
        self._nonce = nonce
        extension = ",tokenauth=true" if is_token else ""
        self._first = f"n={_escape(user)},r={nonce}{extension}"
        self._server_signature: bytes | None = None

    def begin(self) -> bytes:
        return (_NO_BINDING + self._first).encode()

    def answer(self, challenge: bytes) -> bytes | None:
        fields = _read(challenge)
        if "e" in fields:
            raise refused(f"the broker says: {fields['e']}")
        if self._server_signature is None:
            return self._prove(challenge, fields)
        if not hmac.compare_digest(_bytes(fields, "v"), self._server_signature):
            raise refused("the broker does not know the password: is it the right broker?")
        self.is_complete = True
        return None

    def _prove(self, challenge: bytes, fields: dict[str, str]) -> bytes:
        nonce, iterations = fields.get("r", ""), _number(fields, "i")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise refused("the broker's nonce does not belong to this exchange")
        if iterations < ITERATIONS_MIN:
            raise refused(f"the broker asks for {iterations} iterations, {ITERATIONS_MIN} is safe")
        salted = salted_password(
            self.mechanism, self._password, salt=_bytes(fields, "s"), iterations=iterations
        )
        name = MECHANISMS[self.mechanism]
        final = f"c={_BINDING},r={nonce}"
        message = f"{self._first},{challenge.decode()},{final}".encode()
        client_key = hmac.digest(salted, b"Client Key", name)
        stored_key = hashlib.new(name, client_key).digest()
        signature = hmac.digest(stored_key, message, name)
        self._server_signature = hmac.digest(
            hmac.digest(salted, b"Server Key", name), message, name
        )
        proof = base64.b64encode(_xor(client_key, signature)).decode()
        return f"{final},p={proof}".encode()


class ScramServer:
    """The server's side: *waiting* for a name, *challenging*, done when `user` is set."""

    def __init__(self, mechanism: str, nonce: str, find_secret: FindSecret) -> None:
        self.user: str | None = None
        self.is_token = False
        self._mechanism = mechanism
        self._nonce = nonce
        self._find_secret = find_secret
        self._claimed = ""
        self._secret: ScramSecret | None = None
        self._message = ""

    def answer(self, token: bytes) -> bytes:
        if self.user is not None:
            raise refused("the exchange is over")
        return self._challenge(token) if self._secret is None else self._verify(token)

    def _challenge(self, token: bytes) -> bytes:
        text = _text(token)
        header, _, bare = text.partition(",,")
        if header.partition(",")[0] not in ("n", "y") or not bare:
            raise refused("channel binding is not supported")
        fields = _read(bare.encode())
        self._claimed = _unescape(fields.get("n", ""))
        self.is_token = fields.get("tokenauth", "").lower() == "true"
        self._nonce = fields.get("r", "") + self._nonce
        secret = self._find_secret(self._claimed, self.is_token)
        if secret is None:
            raise refused("wrong user or password")
        self._secret = secret
        salt = base64.b64encode(secret.salt).decode()
        first = f"r={self._nonce},s={salt},i={secret.iterations}"
        self._message = f"{bare},{first}"
        return first.encode()

    def _verify(self, token: bytes) -> bytes:
        assert self._secret is not None, "a challenge was sent"
        text = _text(token)
        without_proof, _, _ = text.rpartition(",p=")
        fields = _read(token)
        if fields.get("r") != self._nonce:
            raise refused("the nonce does not belong to this exchange")
        name = MECHANISMS[self._mechanism]
        message = f"{self._message},{without_proof}".encode()
        signature = hmac.digest(self._secret.stored_key, message, name)
        proof = _bytes(fields, "p")
        if len(proof) != len(signature):
            raise refused("wrong user or password")
        stored_key = hashlib.new(name, _xor(proof, signature)).digest()
        if not hmac.compare_digest(stored_key, self._secret.stored_key):
            raise refused("wrong user or password")
        self.user = self._claimed
        verifier = hmac.digest(self._secret.server_key, message, name)
        return b"v=" + base64.b64encode(verifier)


def _read(token: bytes) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in _text(token).split(","):
        name, sign, value = part.partition("=")
        if not sign:
            raise refused(f"{part!r} is not a part of a SCRAM message")
        fields[name] = value
    return fields


def _text(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise refused("a SCRAM message is text") from None


def _bytes(fields: dict[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(fields.get(name, ""), validate=True)
    except (binascii.Error, ValueError):
        raise refused(f"{name} of a SCRAM message is not base64") from None


def _number(fields: dict[str, str], name: str) -> int:
    value = fields.get(name, "")
    if not value.isdecimal() or len(value) > _DIGITS_MAX:
        raise refused(f"{name} of a SCRAM message is not a number")
    return int(value)


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _escape(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _unescape(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")
