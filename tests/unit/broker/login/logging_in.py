"""What tests of logins say and hear: frames of a client that may break every rule."""

from typing import Any

from moldau.broker.login.identity import Identity, LoginExchange
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode
from moldau.protocol.declaration import facts_of
from moldau.protocol.headers import decode_response_header
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.security.exchange import refused
from unit.broker.world import frame_of


class Word:
    """A mechanism by which everybody is let in who says a name, in one token or after `more`."""

    shows_reasons = True

    def __init__(self, name: str = "WORD", reauthentication_ms: int = 0) -> None:
        self.name = name
        self.reauthentication_ms = reauthentication_ms
        self.expires_at_ms: int | None = None

    def begin(self) -> LoginExchange:
        return WordExchange(self)


class WordExchange:
    """Takes `more` for a question, `wrong` for a failure, and everything else for a name."""

    def __init__(self, word: Word) -> None:
        self.shows_reasons = word.shows_reasons
        self.identity: Identity | None = None
        self._word = word

    async def answer(self, token: bytes) -> bytes:
        if token == b"wrong":
            raise refused("the word is wrong")
        if token == b"broken":
            raise ZeroDivisionError(token)
        if token == b"more":
            return b"who?"
        self.identity = Identity(token.decode(), expires_at_ms=self._word.expires_at_ms)
        return b"hello"


def handshake(mechanism: str = "WORD", version: int = 1) -> bytearray:
    return frame_of(SaslHandshakeRequest(mechanism=mechanism), version)


def authenticate(token: bytes, version: int = 2) -> bytearray:
    return frame_of(SaslAuthenticateRequest(auth_bytes=token), version)


def heard(answer: bytes, request: type, version: int) -> Any:
    """The response to a request, out of its frame."""
    assert int.from_bytes(answer[:4], "big") == len(answer) - 4
    key = facts_of(request).api_key
    assert key is not None
    _, position = decode_response_header(answer, key, version, 4)
    response: Any
    response, end = decode(API_BY_KEY[key].response, version, answer, position)
    assert end == len(answer)
    return response
