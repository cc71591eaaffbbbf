"""PLAIN, both sides."""

import pytest

from moldau.errors import SaslAuthenticationFailed
from moldau.security.plain import PlainClient, PlainServer

PASSWORDS = {"anna": "sesam", "änne": "öffne"}


@pytest.mark.parametrize("user", PASSWORDS)
def test_both_sides_agree(user: str) -> None:
    client, server = PlainClient(user, PASSWORDS[user]), PlainServer(PASSWORDS.get)
    assert client.answer(server.answer(client.begin())) is None
    assert client.is_complete
    assert server.user == user


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"\0anna",
        b"\0anna\0wrong",
        b"\0nobody\0",
        b"\0nobody\0sesam",
        b"\0\0sesam",
        b"ben\0anna\0sesam",
        b"\0anna\0sesam\0",
        b"\0\xff\0sesam",
    ],
)
def test_nothing_else_is_taken(token: bytes) -> None:
    server = PlainServer(PASSWORDS.get)
    with pytest.raises(SaslAuthenticationFailed):
        server.answer(token)
    assert server.user is None


def test_one_may_act_for_oneself() -> None:
    server = PlainServer(PASSWORDS.get)
    assert server.answer(b"anna\0anna\0sesam") == b""
    assert server.user == "anna"
