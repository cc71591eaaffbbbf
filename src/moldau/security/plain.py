"""PLAIN (RFC 4616): the password itself, so only over TLS."""

import hashlib
import hmac
from collections.abc import Callable

from moldau.security.exchange import refused

FindPassword = Callable[[str], str | None]

_PARTS = 3


class PlainClient:
    """The client's side: one token, and an empty answer to it."""

    mechanism = "PLAIN"

    def __init__(self, user: str, password: str) -> None:
        self.is_complete = False
        self._token = f"\0{user}\0{password}".encode()

    def begin(self) -> bytes:
        return self._token

    def answer(self, challenge: bytes) -> bytes | None:  # noqa: ARG002 - there is none
        self.is_complete = True
        return None


class PlainServer:
    """The server's side; a refusal is sent to the client in Kafka's words."""

    def __init__(self, find_password: FindPassword) -> None:
        self.user: str | None = None
        self._find_password = find_password

    def answer(self, token: bytes) -> bytes:
        parts = token.decode(errors="replace").split("\0", _PARTS)
        if len(parts) != _PARTS:
            expected = f"expected {_PARTS} tokens, got {len(parts)}"
            raise refused(f"Invalid SASL/PLAIN response: {expected}")
        authorization, user, password = parts
        if not user:
            raise refused("Authentication failed: username not specified")
        if not password:
            raise refused("Authentication failed: password not specified")
        expected_password = self._find_password(user)
        # Comparing takes as long for users that there are not. Both are hashed first, or it
        # would take as long as the password.
        is_right = hmac.compare_digest(_hash(expected_password or ""), _hash(password))
        if expected_password is None or not is_right:
            raise refused("Authentication failed: Invalid username or password")
        if authorization not in ("", user):
            raise refused(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        self.user = user
        return b""


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
