"""PLAIN, both sides."""

import pytest

from moldau.errors import SaslAuthenticationFailed
from moldau.security.plain import PlainClient, PlainServer

PASSWORDS = {"anna": "sesam", "änne": "öffne"}


@pytest.mark.parametrize("user", PASSWORDS)
def test_both_sides_agree(user: str) -> None:
    client, server = PlainClient(user, PASSWORDS[user]), PlainServer(PASSWORDS.get)
    was_complete = client.is_complete
    assert client.answer(server.answer(client.begin())) is None
    assert (was_complete, client.is_complete) == (False, True)
    assert server.user == user


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0anna", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0anna\0sesam\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0a\0b\0c\0d\0e", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0\0sesam", "Authentication failed: username not specified"),
        (b"\0anna\0", "Authentication failed: password not specified"),
        (b"\0anna\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0sesam", "Authentication failed: Invalid username or password"),
        (b"\0\xff\0sesam", "Authentication failed: Invalid username or password"),
        (
            b"ben\0anna\0sesam",
            (
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            ),
        ),
    ],
)
def test_nothing_else_is_taken_and_kafka_s_words_say_why(token: bytes, reason: str) -> None:
    server = PlainServer(PASSWORDS.get)
    with pytest.raises(SaslAuthenticationFailed) as caught:
        server.answer(token)
    assert str(caught.value) == reason
    assert server.user is None


def test_cve_2017_12610_nobody_acts_for_another_user() -> None:
    server = PlainServer(PASSWORDS.get)
    with pytest.raises(SaslAuthenticationFailed, match="authorization id"):
        server.answer("änne\0anna\0sesam".encode())
    assert server.user is None


def test_one_may_act_for_oneself() -> None:
    server = PlainServer(PASSWORDS.get)
    assert server.answer(b"anna\0anna\0sesam") == b""
    assert server.user == "anna"
