"""Bearer tokens, signed and not."""

import pytest

from moldau.broker.login.bearer_tokens import validator
from moldau.security.oauthbearer import TokenRefused
from moldau.security.web_keys import WebKey, read_keys
from moldau.security.web_tokens import ClaimRules, unsecured_token
from unit.broker.world import START_MS, SettableClock
from unit.security.web_signing import EcIssuer, keys_of, token_of

ISSUER = EcIssuer()
CLAIMS = {"sub": "anna", "exp": START_MS // 1000 + 60, "iat": START_MS // 1000, "scope": ""}
UNSECURED = ClaimRules(has_issue_time=False)


class Keys:
    """Those of one issuer."""

    def find(self, key_id: object) -> WebKey | None:
        return read_keys(keys_of(ISSUER)).get(str(key_id))


def test_a_signed_token_is_believed() -> None:
    validate = validator(ClaimRules(), Keys(), SettableClock())
    assert validate(token_of(ISSUER, CLAIMS, "ES256")).user == "anna"


def test_a_token_of_another_key_an_unknown_one_or_none_is_not() -> None:
    validate = validator(ClaimRules(), Keys(), SettableClock())
    for token in (
        token_of(EcIssuer(), CLAIMS, "ES256"),
        token_of(ISSUER, CLAIMS, "ES256", kid="other"),
        token_of(ISSUER, CLAIMS, "ES256", kid=None),
        unsecured_token({"unsecuredLoginStringClaim_sub": "anna"}, now_ms=START_MS),
    ):
        with pytest.raises(TokenRefused) as caught:
            validate(token)
        assert caught.value.status == "invalid_token"


def test_an_unsecured_token_is_believed_where_that_is_wanted_and_a_signed_one_not() -> None:
    validate = validator(UNSECURED, None, SettableClock())
    token = unsecured_token({"unsecuredLoginStringClaim_sub": "anna"}, now_ms=START_MS)
    assert validate(token).user == "anna"
    for other in (token + "AAAA", token_of(ISSUER, CLAIMS, "ES256")):
        with pytest.raises(TokenRefused, match="signed"):
            validate(other)
