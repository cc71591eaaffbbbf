"""Clients say who they are, with brokers that take SASL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import pytest

from moldau.client.admin.admin import Admin
from moldau.errors import SaslAuthenticationFailed, UnsupportedSaslMechanism
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from moldau.security.oauthbearer import BearerIdentity, OauthbearerServer, TokenRefused
from moldau.security.plain import PlainServer
from moldau.security.scram import ScramSecret, ScramServer, salted_password
from unit.client.admin.answering import Answering
from unit.client.scripted import scripted_broker

SALT = b"0123456789abcdef"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


def secret_of(mechanism: str) -> ScramSecret:
    salted = salted_password(mechanism, "sesam", salt=SALT, iterations=4096)
    return ScramSecret.of_salted(mechanism, salted, salt=SALT, iterations=4096)


class ServerExchange(Protocol):
    """A broker's side; `user` is set once it is done."""

    @property
    def user(self) -> str | None: ...

    def answer(self, token: bytes) -> bytes:
        """The token for the client."""


class Bearer(OauthbearerServer):
    """Takes one token."""

    def __init__(self) -> None:
        super().__init__(self.check)

    @staticmethod
    def check(token: str) -> BearerIdentity:
        if token != "right":
            raise TokenRefused("wrong")
        return BearerIdentity("anna", 0)

    @property
    def user(self) -> str | None:
        return None if self.identity is None else self.identity.user


class Scram(ScramServer):
    """Knows one password."""

    user: str | None = None

    def answer(self, token: bytes) -> bytes:
        if self.claim is None:
            self.read_claim(token)
            return self.challenge(secret_of(self._mechanism))
        proof = self.verify(token)
        self.user = self.claim.user
        return proof


def exchange_of(mechanism: str) -> ServerExchange:
    if mechanism == "PLAIN":
        return PlainServer({"anna": "sesam"}.get)
    if mechanism == "OAUTHBEARER":
        return Bearer()
    return Scram(mechanism, "more")


class Guarded(Answering):
    """A broker that wants to know who somebody is."""

    def __init__(self, lifetime_ms: int = 0) -> None:
        super().__init__(SaslHandshake=self.handshake, SaslAuthenticate=self.authenticate)
        self.lifetime_ms = lifetime_ms
        self.users: list[str | None] = []
        self.exchange: ServerExchange

    def handshake(self, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
        if request.mechanism not in MECHANISMS:
            return SaslHandshakeResponse(error_code=33, mechanisms=list(MECHANISMS))
        self.exchange = exchange_of(request.mechanism)
        return SaslHandshakeResponse(error_code=0, mechanisms=list(MECHANISMS))

    def authenticate(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        try:
            token = self.exchange.answer(request.auth_bytes)
        except SaslAuthenticationFailed as error:
            return SaslAuthenticateResponse(error_code=58, error_message=str(error), auth_bytes=b"")
        if self.exchange.user is not None:
            self.users.append(self.exchange.user)
        return SaslAuthenticateResponse(
            error_code=0,
            error_message=None,
            auth_bytes=token,
            session_lifetime_ms=self.lifetime_ms,
        )


@asynccontextmanager
async def login(broker: Guarded, **settings: object) -> AsyncIterator[Admin]:
    options: dict[str, object] = {"sasl.username": "anna", "sasl.password": "sesam"}
    options |= {name.replace("_", "."): value for name, value in settings.items()}
    async with scripted_broker(broker) as address:
        broker.address = address
        servers = {"bootstrap.servers": str(address), "security.protocol": "SASL_PLAINTEXT"}
        async with Admin({**servers, **options}) as admin:
            yield admin


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_every_mechanism_gets_in(mechanism: str) -> None:
    broker = Guarded()
    token = {"sasl_oauthbearer_token": "right"}
    async with login(broker, sasl_mechanism=mechanism, **token) as admin:
        assert await admin.list_topics() == {}
    assert set(broker.users) == {"anna"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_nobody_else_gets_in(mechanism: str) -> None:
    wrong = {"sasl_password": "wrong", "sasl_oauthbearer_token": "wrong"}
    with pytest.raises(SaslAuthenticationFailed):
        async with login(Guarded(), sasl_mechanism=mechanism, **wrong):
            pass


async def test_a_mechanism_that_the_broker_lacks_is_named() -> None:
    broker = Guarded()
    refusal = SaslHandshakeResponse(error_code=33, mechanisms=["PLAIN"])
    broker.answers["SaslHandshake"] = lambda _: refusal
    with pytest.raises(UnsupportedSaslMechanism, match="offers PLAIN, not SCRAM-SHA-256"):
        async with login(broker, sasl_mechanism="SCRAM-SHA-256"):
            pass


class OldGuarded(Guarded):
    """A broker from before 1.0: after the handshake come tokens without headers."""

    def __init__(self) -> None:
        super().__init__()
        self.newest["SaslHandshake"] = 0
        del self.answers["SaslAuthenticate"]
        self._is_conversing = False

    def handshake(self, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
        self._is_conversing = True
        return super().handshake(request)

    def __call__(self, frame: bytes) -> bytes | None:  # type: ignore[override]
        if not self._is_conversing:
            return super().__call__(frame)
        try:
            token = self.exchange.answer(frame)
        except SaslAuthenticationFailed:
            return None
        if self.exchange.user is not None:
            self.users.append(self.exchange.user)
            self._is_conversing = False
        return token


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_the_oldest_brokers_take_tokens_without_headers(mechanism: str) -> None:
    broker = OldGuarded()
    async with login(broker, sasl_mechanism=mechanism) as admin:
        assert await admin.list_topics() == {}
    assert set(broker.users) == {"anna"}


async def test_the_oldest_brokers_hang_up_on_whom_they_do_not_know() -> None:
    with pytest.raises(SaslAuthenticationFailed, match="hung up: is the password right"):
        async with login(OldGuarded(), sasl_mechanism="SCRAM-SHA-256", sasl_password="wrong"):
            pass


async def test_a_session_is_renewed_in_time_on_the_same_connection() -> None:
    broker = Guarded(lifetime_ms=1)
    async with login(broker, sasl_mechanism="PLAIN") as admin:
        count = len(broker.users)
        async with asyncio.timeout(10):
            while len(broker.users) < count + 3:
                await admin.list_topics()


async def test_a_broker_may_ask_for_more_than_the_exchange_has() -> None:
    broker = Guarded()
    answer = SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=b"more?")
    make: Callable[[object], object] = lambda _: answer  # noqa: E731
    broker.answers["SaslAuthenticate"] = make
    with pytest.raises(SaslAuthenticationFailed):
        async with login(broker, sasl_mechanism="SCRAM-SHA-256"):
            pass
