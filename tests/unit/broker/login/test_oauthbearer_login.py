"""OAUTHBEARER at the broker."""

import pytest

from moldau.broker.login.identity import Identity
from moldau.broker.login.oauthbearer_login import OauthbearerMechanism
from moldau.errors import SaslAuthenticationFailed
from moldau.security.oauthbearer import BearerIdentity, OauthbearerClient, TokenRefused


def validate(token: str) -> BearerIdentity:
    if token != "right":
        raise TokenRefused("no")
    return BearerIdentity("anna", 5)


async def test_a_login_ends_with_its_token() -> None:
    exchange = OauthbearerMechanism(validate).begin()
    assert await exchange.answer(OauthbearerClient("right").begin()) == b""
    assert exchange.identity == Identity("anna", expires_at_ms=5)


async def test_a_token_that_is_not_valid_fails_with_the_second_message() -> None:
    exchange = OauthbearerMechanism(validate).begin()
    refusal = b'{"status":"invalid_token"}'
    assert await exchange.answer(OauthbearerClient("wrong").begin()) == refusal
    assert exchange.identity is None
    with pytest.raises(SaslAuthenticationFailed) as caught:
        await exchange.answer(b"\x01")
    assert str(caught.value).encode() == refusal
