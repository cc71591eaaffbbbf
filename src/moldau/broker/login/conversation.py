"""How a client logs in by SASL, and stays logged in (KIP-43, KIP-152, KIP-368).

A conversation is *new*, then *greeted* once ApiVersions was answered; SaslHandshake chooses a
mechanism and begins an *exchange* of tokens, bare ones after version 0 and in SaslAuthenticate
after version 1; then it is *open*, and requests pass. Where the login has an end, SaslHandshake
begins the next exchange on the open conversation, and after the end nothing else passes.

`receive` moves it by a frame, `exchanged` and `failed` by what came of a token. What it wants done
comes out as a step; whatever hangs up is the last one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from moldau.broker.login.identity import Identity, Mechanism
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import (
    RequestHeader,
    decode_request_header,
    encode_response_header,
)
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from moldau.runtime.clock import Moment

HANDSHAKE = 17
API_VERSIONS = 18
AUTHENTICATE = 36
_SINCE_AUTHENTICATE = 1
_SIZE_BYTES = 4
_REAUTHENTICATION_MIN_MS = 1000
_SHOWN_CHARACTERS = 50


@dataclass(frozen=True, slots=True)
class PassOn:
    """Have the request answered as any other."""


@dataclass(frozen=True, slots=True)
class Say:
    """Send an answer; `begins` is a mechanism whose exchange begins."""

    answer: bytes
    begins: Mechanism | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Give a token to the exchange that has begun."""

    token: bytes


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer the request with an error, and hang up."""

    error: KafkaError


class Ending(Enum):
    """Why a connection ends."""

    FAILED = auto()
    """The login failed: answered and ended late, lest passwords be guessed quickly."""
    EXPIRED = auto()
    """The login is over, and was not renewed."""
    OUT_OF_TURN = auto()


@dataclass(frozen=True, slots=True)
class HangUp:
    """End the connection, after an answer if there is one."""

    reason: str
    answer: bytes = b""
    ending: Ending = Ending.FAILED


Step = PassOn | Say | Exchange | Refuse | HangUp


class _Phase(Enum):
    NEW = auto()
    GREETED = auto()
    IN_MESSAGES = auto()
    IN_TOKENS = auto()
    OTHER_MECHANISM = auto()
    """Another one than before was chosen: the handshake was answered, but this is the end."""
    OPEN = auto()


class Conversation:
    """One connection's login."""

    def __init__(self, mechanisms: Sequence[Mechanism]) -> None:
        self.identity: Identity | None = None
        self.ends_at_ms: int | None = None
        """When the login ends, by the monotonic clock."""
        self._mechanisms = {one.name: one for one in mechanisms}
        self._phase = _Phase.NEW
        self._mechanism: Mechanism | None = None
        self._header: RequestHeader | None = None
        self._reauthenticated_at_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the client is logged in and about nothing else."""
        return self._phase is _Phase.OPEN

    @property
    def is_renewing(self) -> bool:
        """Whether the client is logged in, and about to do so again."""
        return self.identity is not None and not self.is_open

    def receive(self, frame: memoryview, now: Moment) -> Step:
        """What to do about a request, or a token."""
        if self._phase is _Phase.IN_TOKENS:
            return Exchange(bytes(frame))
        try:
            header, position = decode_request_header(frame)
            if self._phase is _Phase.OPEN:
                return self._receive_open(header, frame, position, now)
            return self._receive_closed(header, frame, position)
        except ProtocolError as error:
            return HangUp(f"Invalid request during SASL authentication: {error}")

    def _receive_closed(self, header: RequestHeader, frame: memoryview, position: int) -> Step:
        key = header.api_key
        match self._phase:
            case _Phase.NEW | _Phase.GREETED if key == HANDSHAKE:
                return self._handshake(header, frame, position)
            case _Phase.NEW if key == API_VERSIONS:
                if header.api_version in API_BY_KEY[key].versions:
                    self._phase = _Phase.GREETED
                return PassOn()
            case _Phase.GREETED if key == API_VERSIONS:
                return HangUp("ApiVersions came twice", ending=Ending.OUT_OF_TURN)
            case _Phase.IN_MESSAGES if key == AUTHENTICATE:
                _require_known(header)
                self._header = header
                request, _ = decode(SaslAuthenticateRequest, header.api_version, frame, position)
                return Exchange(bytes(request.auth_bytes))
            case _Phase.IN_MESSAGES:
                text = f"Unexpected Kafka request of type {_name(key)} during SASL authentication."
                return Refuse(KafkaError(ErrorCode.ILLEGAL_SASL_STATE, text))
            case _Phase.OTHER_MECHANISM:
                return HangUp(
                    "SASL mechanism requested by client is not supported for re-authentication of "
                    f"mechanism '{self._chosen.name}'"
                )
        return HangUp(f"Unexpected Kafka request of type {_name(key)} during SASL handshake.")

    def _receive_open(
        self, header: RequestHeader, frame: memoryview, position: int, now: Moment
    ) -> Step:
        if self.ends_at_ms is None:
            return PassOn()
        if header.api_key == HANDSHAKE:
            last_ms = self._reauthenticated_at_ms
            if last_ms is not None and now.monotonic_ms - last_ms < _REAUTHENTICATION_MIN_MS:
                return PassOn()
            self._reauthenticated_at_ms = now.monotonic_ms
            return self._handshake(header, frame, position)
        if now.monotonic_ms > self.ends_at_ms:
            return HangUp("its login has expired", ending=Ending.EXPIRED)
        return PassOn()

    def _handshake(self, header: RequestHeader, frame: memoryview, position: int) -> Step:
        _require_known(header)
        request, _ = decode(SaslHandshakeRequest, header.api_version, frame, position)
        offered = list(self._mechanisms)
        chosen = self._mechanisms.get(request.mechanism)
        if chosen is None:
            refusal = SaslHandshakeResponse(
                error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=offered
            )
            name = request.mechanism[:_SHOWN_CHARACTERS]
            reason = f"Unsupported SASL mechanism {name!r}"
            return HangUp(reason, _framed(refusal, header))
        answer = _framed(SaslHandshakeResponse(error_code=0, mechanisms=offered), header)
        if self._mechanism is not None and chosen is not self._mechanism:
            self._phase = _Phase.OTHER_MECHANISM
            return Say(answer)
        is_in_messages = header.api_version >= _SINCE_AUTHENTICATE
        self._phase = _Phase.IN_MESSAGES if is_in_messages else _Phase.IN_TOKENS
        self._mechanism = chosen
        self._header = header if is_in_messages else None
        return Say(answer, begins=chosen)

    # What came of a token

    def exchanged(self, answer: bytes, identity: Identity | None, now: Moment) -> Step:
        """The answer to a token; with an identity the login has succeeded."""
        lifetime_ms = 0
        if identity is not None:
            before = self.identity
            if before is not None and before.user != identity.user:
                changed = f"from User.{before.user}: User.{identity.user}"
                return self.failed(f"Cannot change principals during re-authentication {changed}")
            self._phase = _Phase.OPEN
            self.identity = identity
            lifetime_ms = self._begin_session(identity, now)
        if self._header is None:
            return Say(len(answer).to_bytes(_SIZE_BYTES, "big") + answer)
        response = SaslAuthenticateResponse(
            error_code=0, error_message="", auth_bytes=answer, session_lifetime_ms=lifetime_ms
        )
        return Say(_framed(response, self._header))

    def failed(self, reason: str | None) -> Step:
        """A token was refused; `reason` is what the client may know, None: that it was."""
        what = "authentication" if self.identity is None else "re-authentication"
        message = reason or (
            f"Authentication failed during {what} due to invalid credentials with SASL mechanism "
            f"{self._chosen.name}"
        )
        if self._header is None:
            return HangUp(message)
        response = SaslAuthenticateResponse(
            error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=message, auth_bytes=b""
        )
        return HangUp(message, _framed(response, self._header))

    def _begin_session(self, identity: Identity, now: Moment) -> int:
        """Let the login end when it must; returns how long that is, 0 for no end."""
        limits = []
        if self._chosen.reauthentication_ms > 0:
            limits.append(self._chosen.reauthentication_ms)
        if identity.expires_at_ms is not None:
            limits.append(max(0, identity.expires_at_ms - now.wall_ms))
        lifetime_ms = min(limits, default=0)
        self.ends_at_ms = now.monotonic_ms + lifetime_ms if limits else None
        return lifetime_ms

    @property
    def _chosen(self) -> Mechanism:
        assert self._mechanism is not None, "a handshake was made"
        return self._mechanism


def _name(key: int) -> str:
    """Of an API, as Kafka's messages have it: `DESCRIBE_CLUSTER`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", API_BY_KEY[key].name).upper()


def _require_known(header: RequestHeader) -> None:
    if header.api_version not in API_BY_KEY[header.api_key].versions:
        raise ProtocolError(f"version {header.api_version} of API {header.api_key} is unknown")


def _framed(response: object, header: RequestHeader) -> bytes:
    key, version = header.api_key, header.api_version
    frame = encode_response_header(header.correlation_id, key, version) + encode(response, version)
    return len(frame).to_bytes(_SIZE_BYTES, "big") + frame
