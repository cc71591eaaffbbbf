"""OAUTHBEARER, both sides."""

import pytest

from moldau.errors import SaslAuthenticationFailed
from moldau.security.oauthbearer import OauthbearerClient, OauthbearerServer, reason_of

TOKENS = {"right": "anna"}


def test_both_sides_agree() -> None:
    client = OauthbearerClient("right", {"traceId": "7"})
    server = OauthbearerServer(TOKENS.get)
    assert client.answer(server.answer(client.begin())) is None
    assert client.is_complete
    assert (server.user, server.extensions) == ("anna", {"traceId": "7"})


def test_a_refusal_is_acknowledged_and_then_final() -> None:
    client, server = OauthbearerClient("wrong"), OauthbearerServer(TOKENS.get)
    reason = server.answer(client.begin())
    assert reason_of(reason) == "invalid_token"
    acknowledgement = client.answer(reason)
    assert acknowledgement == b"\x01"
    with pytest.raises(SaslAuthenticationFailed, match="not valid"):
        server.answer(acknowledgement)
    assert server.user is None
    assert not client.is_complete


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
    ],
)
def test_nothing_else_is_taken(token: bytes) -> None:
    server = OauthbearerServer(TOKENS.get)
    with pytest.raises(SaslAuthenticationFailed):
        server.answer(token)
    assert server.user is None


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [(b"?", "no reason given"), (b"[1]", "[1]"), (b'{"a":1}', "{'a': 1}")],
)
def test_reasons_are_read_as_far_as_they_go(challenge: bytes, reason: str) -> None:
    assert reason_of(challenge) == reason
