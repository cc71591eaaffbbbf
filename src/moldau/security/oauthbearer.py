"""OAUTHBEARER (RFC 7628): a token that another server issued, so only over TLS."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from moldau.security.exchange import refused


class BearerIdentity(NamedTuple):
    """Whom a token stands for, and until when."""

    user: str
    expires_at_ms: int


class TokenRefused(Exception):
    """A token is not valid; the status is one of RFC 6750, the reason is for our log alone."""

    def __init__(self, reason: str, status: str = "invalid_token", scope: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.scope = scope


Validate = Callable[[str], BearerIdentity]
"""Whom a token stands for; TokenRefused if it is not valid."""

_SEPARATOR = "\x01"
_FIRST = re.compile(r"n,(?:a=([^,]*))?,\x01((?:[A-Za-z]+=[^\x01]*\x01)+)\x01")
_ACKNOWLEDGED = b"\x01"
_TOKEN_MAX_BYTES = 16_384


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
        self.identity: BearerIdentity | None = None
        self.extensions: dict[str, str] = {}
        self.reason = ""
        """Why a token was refused, in more words than the client gets."""
        self.shows_reasons = True
        """Whether a client gets them; not what is wrong with its message, as with Kafka."""
        self._validate = validate
        self._refusal = ""

    def answer(self, token: bytes) -> bytes:
        if self._refusal:
            raise refused(self._refusal)
        text = token.decode(errors="replace") if len(token) <= _TOKEN_MAX_BYTES else ""
        self.shows_reasons = False
        match = _FIRST.fullmatch(text)
        if match is None:
            raise refused("Authentication failed: not an OAUTHBEARER message")
        pairs = dict(part.partition("=")[::2] for part in match[2].split(_SEPARATOR) if part)
        kind, _, bearer = pairs.pop("auth", "").partition(" ")
        if kind.lower() != "bearer" or not bearer.strip():
            raise refused("Authentication failed: an OAUTHBEARER message has a bearer token")
        self.shows_reasons = True
        try:
            identity = self._validate(bearer.strip())
        except TokenRefused as error:
            self.reason = str(error)
            self._refusal = _status(error)
            return self._refusal.encode()
        if match[1] not in (None, "", identity.user):
            raise refused(
                f"Authentication failed: Client requested an authorization id ({match[1]}) that is "
                f"different from the token's principal name ({identity.user})"
            )
        self.identity, self.extensions = identity, pairs
        return b""


def _status(error: TokenRefused) -> str:
    said = {"status": error.status} | ({"scope": error.scope} if error.scope else {})
    return json.dumps(said, separators=(",", ":"))


def reason_of(challenge: bytes) -> str:
    """What a server says about a token that it does not take."""
    try:
        status = json.loads(challenge)
    except ValueError:
        return "no reason given"
    return str(status.get("status", status)) if isinstance(status, dict) else str(status)
