"""PLAIN (RFC 4616): the password itself, so only over TLS."""

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
    """The server's side."""

    def __init__(self, find_password: FindPassword) -> None:
        self.user: str | None = None
        self._find_password = find_password

    def answer(self, token: bytes) -> bytes:
        parts = token.split(b"\0")
        if len(parts) != _PARTS:
            raise refused("a PLAIN token has three parts")
        authorization, user, password = parts
        if not user or not password:
            raise refused("a PLAIN token has a user and a password")
        if authorization not in (b"", user):
            raise refused("a user may not act for another one")
        expected = self._find_password(user.decode(errors="replace"))
        # Comparing takes as long for users that there are not.
        is_right = hmac.compare_digest((expected or "").encode(), password)
        if expected is None or not is_right:
            raise refused("wrong user or password")
        self.user = user.decode()
        return b""
