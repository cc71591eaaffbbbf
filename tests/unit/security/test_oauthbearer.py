"""OAUTHBEARER, both sides."""

import pytest

from moldau.errors import SaslAuthenticationFailed
from moldau.security.oauthbearer import (
    BearerIdentity,
    OauthbearerClient,
    OauthbearerServer,
    TokenRefused,
    reason_of,
)

ANNA = BearerIdentity("anna", 5)


def validate(token: str) -> BearerIdentity:
    if token == "narrow":
        raise TokenRefused("too small", "insufficient_scope", "read write")
    if token != "right":
        raise TokenRefused("it is wrong")
    return ANNA


def test_both_sides_agree() -> None:
    client = OauthbearerClient("right", {"traceId": "7"})
    server = OauthbearerServer(validate)
    assert client.answer(server.answer(client.begin())) is None
    assert client.is_complete
    assert (server.identity, server.extensions) == (ANNA, {"traceId": "7"})


def test_a_refusal_is_acknowledged_and_then_final() -> None:
    client, server = OauthbearerClient("wrong"), OauthbearerServer(validate)
    reason = server.answer(client.begin())
    assert reason_of(reason) == "invalid_token"
    acknowledgement = client.answer(reason)
    assert acknowledgement == b"\x01"
    with pytest.raises(SaslAuthenticationFailed) as caught:
        server.answer(acknowledgement)
    assert str(caught.value) == '{"status":"invalid_token"}'
    assert server.identity is None
    assert server.reason == "it is wrong"
    assert not client.is_complete


def test_a_scope_that_is_too_small_is_named() -> None:
    server = OauthbearerServer(validate)
    answer = server.answer(OauthbearerClient("narrow").begin())
    assert answer == b'{"status":"insufficient_scope","scope":"read write"}'


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"n,,\x01\x01",
        b"n,,\x01auth=Basic right\x01\x01",
        b"n,,\x01auth=Bearer \x01\x01",
        b"n,a=ben,\x01auth=Bearer right\x01\x01",
        b"n,,\x01auth=Bearer right\x01",
        b"\xff",
        b"n,,\x01auth=Bearer " + b"x" * 20_000 + b"\x01\x01",
    ],
)
def test_nothing_else_is_taken(token: bytes) -> None:
    server = OauthbearerServer(validate)
    with pytest.raises(SaslAuthenticationFailed):
        server.answer(token)
    assert server.identity is None
    assert server.shows_reasons == token.startswith(b"n,a=ben")


def test_cve_2017_12610_nobody_acts_for_another_user() -> None:
    server = OauthbearerServer(validate)
    with pytest.raises(SaslAuthenticationFailed, match=r"authorization id \(ben\)"):
        server.answer(b"n,a=ben,\x01auth=Bearer right\x01\x01")
    assert server.shows_reasons
    assert server.identity is None


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [(b"?", "no reason given"), (b"[1]", "[1]"), (b'{"a":1}', "{'a': 1}")],
)
def test_reasons_are_read_as_far_as_they_go(challenge: bytes, reason: str) -> None:
    assert reason_of(challenge) == reason
