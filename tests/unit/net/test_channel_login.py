"""A broker's login on a channel."""

from typing import Any

import pytest

from moldau.errors import KafkaError, SaslAuthenticationFailed, UnsupportedSaslMechanism
from moldau.net.channel_login import ChannelLogin
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.sasl_handshake import SaslHandshakeResponse
from moldau.security.exchange import ClientExchange
from moldau.security.plain import PlainClient


class Other:
    """Another broker."""

    def __init__(self, lifetime_ms: int = 0) -> None:
        self.lifetime_ms = lifetime_ms
        self.tokens: list[bytes] = []

    async def ask(self, request: object, version: int) -> Any:
        assert version == 1
        if not isinstance(request, SaslAuthenticateRequest):
            return SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"])
        self.tokens.append(request.auth_bytes)
        return SaslAuthenticateResponse(
            error_code=0,
            error_message="",
            auth_bytes=b"",
            session_lifetime_ms=self.lifetime_ms,
        )


async def begin() -> ClientExchange:
    return PlainClient("broker", "secret")


async def test_a_login_without_an_end_is_not_renewed() -> None:
    other = Other()
    assert await ChannelLogin(begin).perform(other.ask) is None
    assert other.tokens == [b"\0broker\0secret"]


async def test_a_login_is_renewed_before_its_end() -> None:
    assert await ChannelLogin(begin).perform(Other(10_000).ask) == pytest.approx(8.5)


async def test_a_refusal_is_told() -> None:
    async def no_mechanism(_request: object, _version: int) -> Any:
        return SaslHandshakeResponse(error_code=33, mechanisms=["SCRAM-SHA-512"])

    with pytest.raises(UnsupportedSaslMechanism, match="it offers SCRAM-SHA-512"):
        await ChannelLogin(begin).perform(no_mechanism)
    other = Other()

    async def no_password(request: object, version: int) -> Any:
        answer = await other.ask(request, version)
        if isinstance(answer, SaslAuthenticateResponse):
            answer.error_code, answer.error_message = 58, "wrong"
        return answer

    with pytest.raises(SaslAuthenticationFailed, match="login refused: wrong"):
        await ChannelLogin(begin).perform(no_password)


async def test_an_exchange_that_does_not_end_is_no_login() -> None:
    class Half(PlainClient):
        def answer(self, challenge: bytes) -> bytes | None:
            assert challenge == b""
            return None

    async def half() -> ClientExchange:
        return Half("broker", "secret")

    with pytest.raises(KafkaError, match="did not finish"):
        await ChannelLogin(half).perform(Other().ask)
