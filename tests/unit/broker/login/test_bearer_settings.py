"""Which bearer tokens a listener takes."""

import pytest

from moldau.broker.login.bearer_settings import read_bearer_settings
from moldau.config.listener_settings import ListenerSettings
from moldau.errors import InvalidConfig

PREFIX = "sasl.oauthbearer."
SECURED = {
    f"{PREFIX}jwks.endpoint.url": "https://idp.example/keys",
    f"{PREFIX}expected.issuer": "https://idp.example",
    f"{PREFIX}expected.audience": "kafka,other",
}


def listener(texts: dict[str, str]) -> ListenerSettings:
    return ListenerSettings(texts, "OUTSIDE")


def test_keys_issuer_and_audience_are_wanted() -> None:
    found = read_bearer_settings(listener(SECURED), {"ssl.truststore.location": "x"})
    assert found.keys is not None
    assert (found.keys.url, found.keys.refresh_ms) == ("https://idp.example/keys", 3_600_000)
    assert found.rules.issuer == "https://idp.example"
    assert found.rules.audiences == ("kafka", "other")
    assert (found.rules.clock_skew_ms, found.rules.user_claim) == (30_000, "sub")


@pytest.mark.parametrize("name", ["expected.issuer", "expected.audience"])
def test_without_one_of_them_an_opt_out_must_say_so(name: str) -> None:
    texts = {key: value for key, value in SECURED.items() if not key.endswith(name)}
    opt_out = f"moldau.oauthbearer.allow.any.{name.rpartition('.')[2]}"
    with pytest.raises(InvalidConfig, match=opt_out):
        read_bearer_settings(listener(texts), {})
    assert read_bearer_settings(listener({**texts, opt_out: "true"}), {}).keys is not None


def test_cve_2026_33557_and_2026_110985_no_keys_never_mean_no_checks() -> None:
    with pytest.raises(InvalidConfig, match=r"allow\.unsecured\.tokens"):
        read_bearer_settings(listener({}), {})
    with pytest.raises(InvalidConfig, match=r"allow\.unsecured\.tokens"):
        read_bearer_settings(listener({f"{PREFIX}jwks.endpoint.url": ""}), {})


def test_unsecured_tokens_are_taken_by_a_setting_that_says_so() -> None:
    texts = {"moldau.oauthbearer.allow.unsecured.tokens": "true"}
    options = {
        "unsecuredValidatorPrincipalClaimName": "name",
        "unsecuredValidatorRequiredScope": "read write",
        "unsecuredValidatorAllowableClockSkewMs": "5",
    }
    found = read_bearer_settings(listener(texts), options)
    assert found.keys is None
    assert (found.rules.user_claim, found.rules.clock_skew_ms) == ("name", 5)
    assert found.rules.required_scopes == ("read", "write")
    with pytest.raises(InvalidConfig, match="not a number"):
        read_bearer_settings(listener(texts), {"unsecuredValidatorAllowableClockSkewMs": "x"})


@pytest.mark.parametrize("url", ["http://idp.example/keys", "ftp://x", "/keys.json"])
def test_cve_2025_27817_keys_come_by_https_or_from_a_file(url: str) -> None:
    with pytest.raises(InvalidConfig, match="by https, or from a file"):
        read_bearer_settings(listener({**SECURED, f"{PREFIX}jwks.endpoint.url": url}), {})
