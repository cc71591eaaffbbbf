"""Delegation tokens."""

from moldau.coordination.layout.tokens import (
    CHANGE_PREFIX,
    TokenNode,
    decode_token,
    token_path,
)
from unit.coordination.layout.conftest import Nodes

_TOKEN = TokenNode(
    token_id="tid",
    owner="User:al ice*",
    requester="User:bob",
    renewers=("User:bob",),
    issued_ms=1,
    expires_ms=3,
    max_ms=2,
)


def test_a_token_is_written_as_apache_kafka_writes_it(apache: Nodes) -> None:
    assert _TOKEN.encode() == apache["token"]
    assert decode_token(apache["token"]) == _TOKEN
    assert decode_token(apache["token-own"]).requester == "User:al ice*"


def test_before_version_3_the_requester_is_the_owner() -> None:
    data = (
        b'{"version":1,"owner":"User%3Aa","renewers":[],"issueTimestamp":1,"maxTimestamp":2,'
        b'"expiryTimestamp":3,"tokenId":"t"}'
    )
    assert decode_token(data).requester == "User:a"


def test_paths_are_those_of_apache_kafka(apache: Nodes) -> None:
    assert token_path("tid").encode() == apache["token-path"]
    assert CHANGE_PREFIX.encode() == apache["token-change-path"]
