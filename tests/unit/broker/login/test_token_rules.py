"""The rules of delegation tokens."""

import base64
import hashlib
import hmac as python_hmac
from dataclasses import replace

import pytest

from moldau.broker.login.token_rules import (
    TokenOwners,
    TokenTimes,
    concerns,
    expired,
    hmac_of,
    is_asked_for,
    is_over,
    new_token,
    renewed,
    token_id_of,
)
from moldau.coordination.layout.tokens import TokenNode
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import Principal

ANNA, BEN, EVE = (Principal("User", name) for name in ("anna", "ben", "eve"))
DAY_MS = 86_400_000
TIMES = TokenTimes(max_lifetime_ms=7 * DAY_MS, expiry_ms=DAY_MS)


def token(max_lifetime_ms: int = -1) -> TokenNode:
    owners = TokenOwners(ANNA, EVE, [BEN])
    return new_token("id", owners, max_lifetime_ms, TIMES, now_ms=1000)


@pytest.mark.parametrize(
    ("asked_ms", "expires_ms", "max_ms"),
    [
        (-1, DAY_MS, 7 * DAY_MS),
        (0, DAY_MS, 7 * DAY_MS),
        (99 * DAY_MS, DAY_MS, 7 * DAY_MS),
        (5000, 5000, 5000),
        (2 * DAY_MS, DAY_MS, 2 * DAY_MS),
    ],
)
def test_a_token_lives_no_longer_than_allowed(asked_ms: int, expires_ms: int, max_ms: int) -> None:
    made = token(asked_ms)
    assert (made.expires_ms, made.max_ms) == (1000 + expires_ms, 1000 + max_ms)
    assert (made.owner, made.requester, made.renewers) == ("User:anna", "User:eve", ("User:ben",))


@pytest.mark.parametrize("asker", [ANNA, BEN])
def test_owner_and_renewer_let_it_live_longer_or_shorter(asker: Principal) -> None:
    assert renewed(token(), 5, times=TIMES, asker=asker, now_ms=2000).expires_ms == 2005
    assert renewed(token(), -1, times=TIMES, asker=asker, now_ms=2000).expires_ms == 2000 + DAY_MS
    assert renewed(token(), 0, times=TIMES, asker=asker, now_ms=2000).expires_ms == 2000
    now = expired(token(), 0, asker=asker, now_ms=2000)
    assert now is not None
    assert now.expires_ms == 2000, "it ends now, and is removed when somebody looks"
    longest = renewed(token(), 99 * DAY_MS, times=TIMES, asker=asker, now_ms=2000)
    assert longest.expires_ms == longest.max_ms
    shorter = expired(token(), 5, asker=asker, now_ms=2000)
    assert shorter is not None
    assert shorter.expires_ms == 2005
    assert expired(token(), -1, asker=asker, now_ms=2000) is None


def code_of(caught: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return caught.value.code


def test_nobody_else_does() -> None:
    for period_ms in (-1, 5):
        with pytest.raises(KafkaError) as caught:
            renewed(token(), period_ms, times=TIMES, asker=EVE, now_ms=2000)
        assert code_of(caught) is ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        with pytest.raises(KafkaError) as caught:
            expired(token(), period_ms, asker=EVE, now_ms=2000)
        assert code_of(caught) is ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH


def test_what_has_expired_does_not_come_back() -> None:
    late_ms = 1001 + DAY_MS
    assert is_over(token(), now_ms=late_ms)
    assert is_over(token(), now_ms=late_ms - 1), "with its last millisecond"
    assert not is_over(token(), now_ms=late_ms - 2)
    longest = replace(token(), expires_ms=99 * DAY_MS)
    assert is_over(longest, now_ms=longest.max_ms)
    assert not is_over(longest, now_ms=longest.max_ms - 1)
    with pytest.raises(KafkaError) as caught:
        renewed(token(), 5, times=TIMES, asker=ANNA, now_ms=late_ms)
    assert code_of(caught) is ErrorCode.DELEGATION_TOKEN_EXPIRED
    with pytest.raises(KafkaError) as caught:
        expired(token(), 5, asker=ANNA, now_ms=late_ms)
    assert code_of(caught) is ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert expired(token(), -1, asker=ANNA, now_ms=late_ms) is None


def test_who_is_concerned() -> None:
    assert concerns(token(), ANNA)
    assert concerns(token(), BEN)
    assert not concerns(token(), EVE)
    assert is_asked_for(token(), None)
    assert is_asked_for(token(), [EVE, BEN])
    assert not is_asked_for(token(), [EVE])
    assert not is_asked_for(token(), [])


def test_expired_tokens_are_looked_for_each_hour() -> None:
    assert TIMES.check_ms == 3_600_000


def test_ids_and_proofs_are_kafka_s() -> None:
    assert token_id_of(bytes(range(16))) == "AAECAwQFBgcICQoLDA0ODw"
    expected = python_hmac.new(b"of all", b"id", hashlib.sha512).digest()
    assert hmac_of("of all", "id") == expected
    assert len(base64.b64encode(expected)) == 88
