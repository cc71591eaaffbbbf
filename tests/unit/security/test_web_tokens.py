"""What tokens say."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.security.oauthbearer import BearerIdentity, TokenRefused
from moldau.security.web_tokens import ClaimRules, check_claims, read_token, unsecured_token

NOW_MS = 1_700_000_000_000
NOW = NOW_MS // 1000
RULES = ClaimRules(issuer="idp", audiences=("kafka", "moldau"))
GOOD = {
    "sub": "anna",
    "exp": NOW + 60,
    "iat": NOW - 60,
    "iss": "idp",
    "aud": ["x", "kafka"],
    "scope": "a b",
}


def test_a_token_that_says_all_stands_for_its_user_until_it_expires() -> None:
    found = check_claims(GOOD, RULES, now_ms=NOW_MS)
    assert found == BearerIdentity("anna", 1000 * (NOW + 60))
    assert check_claims({**GOOD, "aud": "moldau", "scope": []}, RULES, now_ms=NOW_MS) == found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sub": None}, "user"),
        ({"sub": " "}, "user"),
        ({"sub": 5}, "user"),
        ({"exp": None}, "expired"),
        ({"exp": NOW - 31}, "expired"),
        ({"exp": "soon"}, "no time"),
        ({"exp": True}, "no time"),
        ({"exp": 10**30}, "no time"),
        ({"iat": None}, "when it was issued"),
        ({"iat": NOW + 31}, "later"),
        ({"iat": NOW, "exp": NOW}, "before it is issued"),
        ({"nbf": NOW + 31}, "not valid yet"),
        ({"iss": "other"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"aud": "x"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": {"kafka": 1}}, "audience"),
        ({"scope": None}, "scope"),
    ],
)
def test_what_it_must_say_is_wanted(change: dict[str, object], reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason):
        check_claims({**GOOD, **change}, RULES, now_ms=NOW_MS)


def test_clocks_may_differ_a_little() -> None:
    check_claims({**GOOD, "exp": NOW - 29, "iat": NOW - 60}, RULES, now_ms=NOW_MS)
    check_claims({**GOOD, "iat": NOW + 29}, RULES, now_ms=NOW_MS)


def test_a_scope_that_is_too_small_is_named() -> None:
    rules = ClaimRules(required_scopes=("a", "c"), has_issue_time=False)
    with pytest.raises(TokenRefused) as caught:
        check_claims(GOOD, rules, now_ms=NOW_MS)
    assert (caught.value.status, caught.value.scope) == ("insufficient_scope", "a c")
    assert check_claims({**GOOD, "scope": ["a", "c"]}, rules, now_ms=NOW_MS).user == "anna"


def test_an_unsecured_token_says_what_the_options_say() -> None:
    text = unsecured_token({"unsecuredLoginStringClaim_sub": "b", "x": "y"}, now_ms=NOW_MS)
    token = read_token(text)
    assert token.header == {"alg": "none"}
    assert token.signature == b""
    rules = ClaimRules(has_issue_time=False, clock_skew_ms=0)
    assert check_claims(token.claims, rules, now_ms=NOW_MS) == ("b", NOW_MS + 3_600_000)


def test_a_token_with_nested_rubbish_is_refused() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 10_000).decode().rstrip("=")
    for text in ("", "a.b", "a.b.c.d", "?.?.?", f"{deep}.{deep}.", "MQ.MQ.MQ"):
        with pytest.raises(TokenRefused):
            read_token(text)


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=5), st.integers(), max_size=5))
def test_no_text_is_anything_but_a_token_or_refused(text: str, claims: dict[str, int]) -> None:
    for candidate in (text, f"{text}.{text}.{text}"):
        try:
            read_token(candidate)
        except TokenRefused:
            continue
    try:
        check_claims(json.loads(json.dumps(claims)), RULES, now_ms=NOW_MS)
    except TokenRefused:
        return
    raise AssertionError("such claims are not enough")


def test_what_would_be_a_token_again_is_not_shown() -> None:
    text = unsecured_token({"unsecuredLoginStringClaim_sub": "anna"}, now_ms=1_000)
    token = read_token(text + "c2lnbmF0dXJl")
    assert token.signature == b"signature"
    assert "signature" not in repr(token)
    assert text.split(".")[1] not in repr(token)
