"""DIGEST-MD5, by the example of RFC 2831 and by what may go wrong."""

import pytest

from moldau.errors import KafkaError
from moldau.security.digest_md5 import Credentials, DigestMd5Client

CHALLENGE = (
    b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",'
    b"algorithm=md5-sess,charset=utf-8"
)


def client(user: str = "chris", password: str = "secret") -> DigestMd5Client:
    return DigestMd5Client(
        Credentials(user, password), "OA6MHXh6VqTrRk", service="imap/elwood.innosoft.com"
    )


def test_the_example_of_the_standard_comes_out() -> None:
    exchange = client()
    assert exchange.begin() == b""
    answer = exchange.answer(CHALLENGE)
    assert answer is not None
    assert b"response=d388dad90d4bbd760a152321f2143af7" in answer
    assert answer.startswith(b'charset=utf-8,username="chris",realm="elwood.innosoft.com",')
    assert not exchange.is_complete
    assert exchange.answer(b"rspauth=ea40f60335c427b5527b84dbabcdfffd") is None
    assert exchange.is_complete


def test_a_server_that_does_not_know_the_password_is_not_trusted() -> None:
    exchange = client()
    exchange.answer(CHALLENGE)
    with pytest.raises(KafkaError, match="is it the right server"):
        exchange.answer(b"rspauth=00000000000000000000000000000000")
    assert not exchange.is_complete


@pytest.mark.parametrize(
    "challenge",
    [
        b"",
        b'realm="r"',
        b'nonce="n",qop="auth-conf"',
        b'nonce="n',
        b"\xff\xfe",
        b"nonce=,qop=auth",
    ],
)
def test_a_challenge_that_makes_no_sense_is_refused(challenge: bytes) -> None:
    with pytest.raises(KafkaError):
        client().answer(challenge)


def test_quotes_in_names_are_escaped() -> None:
    answer = client('a"b\\c').answer(b'nonce="x\\"y"')
    assert answer is not None
    assert b'username="a\\"b\\\\c"' in answer
    assert b'nonce="x\\"y"' in answer


def test_letters_beyond_latin_are_hashed_as_utf_8() -> None:
    greek = client("λ").answer(CHALLENGE)
    assert greek is not None
    assert 'username="λ"'.encode() in greek


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Credentials("chris", "secret"))
