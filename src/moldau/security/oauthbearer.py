"""OAUTHBEARER (RFC 7628): a token that another server issued, so only over TLS."""

import json
import re
from collections.abc import Callable, Mapping

from moldau.security.exchange import refused

Validate = Callable[[str], str | None]
"""The user that a token stands for; None if it is not valid."""

_SEPARATOR = "\x01"
_FIRST = re.compile(r"n,(?:a=([^,]*))?,\x01((?:[A-Za-z]+=[^\x01]*\x01)+)\x01")
_ACKNOWLEDGED = b"\x01"
_REFUSAL = b'{"status":"invalid_token"}'


class OauthbearerClient:
    """The client's side: one token; a refusal is acknowledged before the server says so."""

    mechanism = "OAUTHBEARER"

    def __init__(self, token: str, extensions: Mapping[str, str] | None = None) -> None:
        self.is_complete = False
        self._token = token
        self._extensions = dict(extensions or {})

    def begin(self) -> bytes:
        pairs = {"auth": f"Bearer {self._token}", **self._extensions}
        said = "".join(f"{name}={value}{_SEPARATOR}" for name, value in pairs.items())
        return f"n,,{_SEPARATOR}{said}{_SEPARATOR}".encode()

    def answer(self, challenge: bytes) -> bytes | None:
        if challenge:
            return _ACKNOWLEDGED
        self.is_complete = True
        return None


class OauthbearerServer:
    """The server's side: a token that is not valid is answered with a reason, then refused."""

    def __init__(self, validate: Validate) -> None:
        self.user: str | None = None
        self.extensions: dict[str, str] = {}
        self._validate = validate
        self._is_refused = False

    def answer(self, token: bytes) -> bytes:
        if self._is_refused:
            raise refused("the token is not valid")
        match = _FIRST.fullmatch(token.decode(errors="replace"))
        if match is None:
            raise refused("not an OAUTHBEARER message")
        pairs = dict(part.partition("=")[::2] for part in match[2].split(_SEPARATOR) if part)
        kind, _, bearer = pairs.pop("auth", "").partition(" ")
        if kind.lower() != "bearer" or not bearer:
            raise refused("an OAUTHBEARER message has a bearer token")
        user = self._validate(bearer.strip())
        if user is None:
            self._is_refused = True
            return _REFUSAL
        if match[1] not in (None, "", user):
            raise refused("a user may not act for another one")
        self.user, self.extensions = user, pairs
        return b""


def reason_of(challenge: bytes) -> str:
    """What a server says about a token that it does not take."""
    try:
        status = json.loads(challenge)
    except ValueError:
        return "no reason given"
    return str(status.get("status", status)) if isinstance(status, dict) else str(status)
