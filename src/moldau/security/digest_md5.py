"""DIGEST-MD5 (RFC 2831), the client's side: how a broker logs in to ZooKeeper.

The server begins with a nonce; the client proves that it knows the password; then the server
proves the same. The client's nonce comes from outside, so that an exchange can be repeated.
ZooKeeper asks for neither integrity nor encryption on top; TLS is for that.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field

from moldau.security.exchange import refused

_DIRECTIVE = re.compile(r"\s*([\w-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s\",]+))\s*(?:,|$)")
_AUTHENTICATION_ONLY = "auth"
_FIRST = "00000001"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The user and password for a service."""

    user: str
    password: str = field(repr=False)


class DigestMd5Client:
    """The client's side: *begun*, *proving*, *complete*; only `answer` moves it on."""

    mechanism = "DIGEST-MD5"

    def __init__(self, credentials: Credentials, nonce: str, *, service: str) -> None:
        """`service` is what RFC 2831 calls the digest-uri: a kind of service and a host."""
        self.is_complete = False
        self._credentials = credentials
        self._nonce = nonce
        self._service = service
        self._server_proof: str | None = None

    def begin(self) -> bytes:
        return b""

    def answer(self, challenge: bytes) -> bytes | None:
        directives = _read(challenge)
        if self._server_proof is None:
            return self._prove(directives)
        if not hmac.compare_digest(directives.get("rspauth", ""), self._server_proof):
            raise refused("the server does not know the password: is it the right server?")
        self.is_complete = True
        return None

    def _prove(self, directives: dict[str, str]) -> bytes:
        offered = directives.get("qop", _AUTHENTICATION_ONLY).split(",")
        if "nonce" not in directives or _AUTHENTICATION_ONLY not in offered:
            raise refused("the server's challenge is not one that can be answered")
        realm, server_nonce = directives.get("realm", ""), directives["nonce"]
        user, password = self._credentials.user, self._credentials.password
        secret = hashlib.md5(_text(f"{user}:{realm}:{password}"), usedforsecurity=False).digest()
        session = _hash(secret + f":{server_nonce}:{self._nonce}".encode())
        between = f"{server_nonce}:{_FIRST}:{self._nonce}:{_AUTHENTICATION_ONLY}"

        def proof(word: str) -> str:
            asked = _hash(f"{word}:{self._service}".encode())
            return _hash(f"{session}:{between}:{asked}".encode())

        self._server_proof = proof("")
        return (
            f'charset=utf-8,username="{_escape(user)}",realm="{_escape(realm)}",'
            f'nonce="{_escape(server_nonce)}",nc={_FIRST},cnonce="{self._nonce}",'
            f'digest-uri="{self._service}",response={proof("AUTHENTICATE")},'
            f"qop={_AUTHENTICATION_ONLY}"
        ).encode()


def _read(challenge: bytes) -> dict[str, str]:
    """The directives by their names."""
    directives: dict[str, str] = {}
    try:
        rest = challenge.decode()
    except UnicodeDecodeError as error:
        raise refused("the server's challenge is not text") from error
    while rest:
        found = _DIRECTIVE.match(rest)
        if found is None:
            raise refused("the server's challenge cannot be read")
        quoted = found[2]
        directives[found[1]] = found[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        rest = rest[found.end() :]
    return directives


def _hash(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _text(text: str) -> bytes:
    """Names are hashed in ISO 8859-1 where that has all their characters, else in UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _escape(text: str) -> str:
    return re.sub(r"([\"\\])", r"\\\1", text)
