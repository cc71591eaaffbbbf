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
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.security.exchange import refused

MECHANISMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16_384
"""Of passwords that are set; RFC 7677 and Kafka agree on the least."""
ITERATIONS_ANSWERED_MAX = 1_000_000
"""What a client computes for a broker: half a second. A false broker could ask for hours."""
_NO_BINDING = "n,,"
_DIGITS_MAX = 18  # int() raises for thousands
_BINDING = base64.b64encode(_NO_BINDING.encode()).decode()
_FIRST = re.compile(r"([ny]),(?:a=([^,]*))?,(n=[^,]*,r=([!-+\--~]+)(?:,[A-Za-z]+=[^,]*)*)")
_FINAL = re.compile(r"(c=([^,]*),r=([^,]*)(?:,[A-Za-z]+=[^,]*)*),p=([^,]*)")
_NAME_ESCAPE = re.compile("=(2C|3D)?")
_SALT_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SALT_BITS = 130


@dataclass(frozen=True, slots=True)
class ScramSecret:
    """What a server keeps of a password."""

    salt: bytes = field(repr=False)
    iterations: int
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    @classmethod
    def of_password(
        cls, mechanism: str, password: str, *, salt: bytes, iterations: int
    ) -> "ScramSecret":
        """From a password; takes milliseconds."""
        salted = salted_password(mechanism, password, salt=salt, iterations=iterations)
        return cls.of_salted(mechanism, salted, salt=salt, iterations=iterations)

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

    @classmethod
    def of_nobody(
        cls, mechanism: str, user: str, key: bytes, usual: Mapping[int, int] | None = None
    ) -> "ScramSecret":
        """For a user that is not there: always the same, and no password fits.

        `key` is a secret of the cluster, or one could compute who is not there. `usual` counts
        users by their iterations: of strangers as large a part has each number of them.
        """
        name = MECHANISMS[mechanism]

        def drawn(what: str) -> bytes:
            return hmac.digest(key, f"{what}:{mechanism}:{user}".encode(), name)

        salt = salt_of(int.from_bytes(drawn("salt")))
        iterations = _drawn_iterations(drawn("iterations"), usual or {ITERATIONS_MIN: 1})
        return cls(salt, iterations, drawn("stored"), drawn("server"))

    @classmethod
    def parse(cls, text: str) -> "ScramSecret":
        """From the text that Kafka keeps; ValueError if it is none."""
        parts = dict(part.partition("=")[::2] for part in text.split(","))
        try:
            salt, stored_key, server_key = (
                base64.b64decode(parts[name], validate=True)
                for name in ("salt", "stored_key", "server_key")
            )
            return cls(salt, int(parts["iterations"]), stored_key, server_key)
        except (KeyError, ValueError):
            raise ValueError("not a SCRAM credential") from None

    def to_text(self) -> str:
        """What Kafka keeps in ZooKeeper."""
        keys = {
            "salt": self.salt,
            "stored_key": self.stored_key,
            "server_key": self.server_key,
        }
        texts = [f"{name}={base64.b64encode(key).decode()}" for name, key in keys.items()]
        return ",".join([*texts, f"iterations={self.iterations}"])


def _drawn_iterations(drawn: bytes, usual: Mapping[int, int]) -> int:
    """Those of the user who stands at this place, when all stand in a row by their iterations."""
    place = int.from_bytes(drawn) * sum(usual.values()) >> 8 * len(drawn)
    for iterations in sorted(usual):
        place -= usual[iterations]
        if place < 0:
            return iterations
    raise AssertionError("a place is less than the number of users")


def salt_of(number: int) -> bytes:
    """A salt as Kafka's tools make them: 130 random bits as digits to base 36."""
    number %= 1 << SALT_BITS
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _SALT_DIGITS[digit] + digits
    return digits.encode()


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
        if iterations > ITERATIONS_ANSWERED_MAX:
            raise refused(f"the broker asks for {iterations} iterations, which would take too long")
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


class Claim(NamedTuple):
    """What a client says that it is."""

    user: str
    is_token: bool
    """Whether that is the id of a delegation token."""


class ScramServer:
    """The server's side: `read_claim`, `challenge`, `verify`, in this order and once each.

    Between the first two the secret is looked up. For one that is not there the exchange goes on
    with another, so that nobody learns which users there are.
    """

    def __init__(self, mechanism: str, nonce: str) -> None:
        assert mechanism in MECHANISMS, mechanism
        self.claim: Claim | None = None
        self._mechanism = mechanism
        self._nonce = nonce
        self._header = ""
        self._message = ""
        self._secret: ScramSecret | None = None

    def read_claim(self, token: bytes) -> Claim:
        """Who the client says it is, in its first message."""
        found = _FIRST.fullmatch(_text(token))
        if found is None:
            raise refused("not the first message of a client that binds no channel")
        binding, authorization, bare, client_nonce = found.groups()
        fields = _read(bare.encode())
        user = _unescape(fields["n"])
        if not user or _unescape(authorization or fields["n"]) != user:
            raise refused("a user may not act for another one")
        acting = "" if authorization is None else f"a={authorization}"
        self._header = f"{binding},{acting},"
        self._nonce = client_nonce + self._nonce
        self._message = bare
        self.claim = Claim(user, fields.get("tokenauth", "").lower() == "true")
        return self.claim

    def challenge(self, secret: ScramSecret) -> bytes:
        """What the client has to answer."""
        assert self.claim is not None, "after the claim"
        assert self._secret is None, "once"
        self._secret = secret
        salt = base64.b64encode(secret.salt).decode()
        first = f"r={self._nonce},s={salt},i={secret.iterations}"
        self._message += f",{first}"
        return first.encode()

    def verify(self, token: bytes) -> bytes:
        """Our own proof, if the client's is right."""
        secret = self._secret
        assert secret is not None, "a challenge was sent"
        found = _FINAL.fullmatch(_text(token))
        if found is None:
            raise refused("not the final message of a client")
        without_proof, binding, nonce, proof_text = found.groups()
        if binding != base64.b64encode(self._header.encode()).decode():
            raise refused("the channel binding is another than that of the first message")
        if not hmac.compare_digest(nonce.encode(), self._nonce.encode()):
            raise refused("the nonce does not belong to this exchange")
        name = MECHANISMS[self._mechanism]
        message = f"{self._message},{without_proof}".encode()
        signature = hmac.digest(secret.stored_key, message, name)
        proof = _decoded(proof_text, "p")
        if len(proof) != len(signature):
            raise refused("wrong user or password")
        stored_key = hashlib.new(name, _xor(proof, signature)).digest()
        is_right = hmac.compare_digest(stored_key, secret.stored_key)
        if not is_right or secret.iterations < ITERATIONS_MIN:
            raise refused("wrong user or password")
        return b"v=" + base64.b64encode(hmac.digest(secret.server_key, message, name))


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
    return _decoded(fields.get(name, ""), name)


def _decoded(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
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
    def plain(found: re.Match[str]) -> str:
        if found[1] is None:
            raise refused("= stands in a name only as =3D")
        return "," if found[1] == "2C" else "="

    return _NAME_ESCAPE.sub(plain, name)
