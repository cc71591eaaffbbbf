"""PLAIN at the broker."""

import pytest

from moldau.broker.login.identity import Identity
from moldau.broker.login.plain_login import PlainMechanism
from moldau.errors import SaslAuthenticationFailed


async def test_a_user_of_the_settings_is_let_in() -> None:
    mechanism = PlainMechanism({"anna": "sesam"}, reauthentication_ms=7)
    exchange = mechanism.begin()
    assert await exchange.answer(b"\0anna\0sesam") == b""
    assert exchange.identity == Identity("anna")
    assert mechanism.reauthentication_ms == 7


async def test_others_are_told_why_not() -> None:
    exchange = PlainMechanism({"anna": "sesam"}).begin()
    with pytest.raises(SaslAuthenticationFailed, match="Invalid username or password"):
        await exchange.answer(b"\0anna\0sesame")
    assert exchange.shows_reasons
    assert exchange.identity is None
