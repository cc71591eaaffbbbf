"""A login by OpenID Connect is taken only with the right code, token, browser and time."""

import base64
import hashlib
from typing import Any

import pytest

from moldau.console.login import oidc
from moldau.console.login.oidc import OidcOptions, OidcProvider
from moldau.web.errors import WebError
from moldau.web.users import User
from unit.console.login.provider import CLIENT, ScriptedProvider, provider
from unit.security.web_signing import RsaIssuer

OWN = "http://localhost:8080"


def of(scripted: ScriptedProvider, **more: Any) -> OidcProvider:
    return OidcProvider(OidcOptions(scripted.url, CLIENT, OWN, **more))


async def logged_in(known: OidcProvider, scripted: ScriptedProvider) -> User:
    location, browser = await known.begin("/c/local")
    query = scripted.follow(location)
    user, _, target = await known.finish(query["state"], "code", browser)
    assert target == "/c/local"
    return user


async def test_a_code_is_exchanged_with_its_verifier() -> None:
    async with provider() as scripted:
        known = of(scripted, client_secret="s/ecret")
        location, browser = await known.begin("/c/local/topics?q=1")
        query = scripted.follow(location)
        assert location.startswith(f"{scripted.url}/authorize?")
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        assert query["redirect_uri"] == f"{OWN}/oidc/callback"
        user, claims, target = await known.finish(query["state"], "the code", browser)
    assert (user.name, user.roles) == ("anna", ("group:ops", "group:admin"))
    assert (claims["sub"], target) == ("1234", "/c/local/topics?q=1")
    (asked,) = scripted.asked
    digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == query["code_challenge"]
    assert asked["code"] == "the code"
    pair = base64.b64decode(scripted.authorization.removeprefix("Basic ")).decode()
    assert pair == "console:s%2Fecret"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"nonce": "other"}, "another login"),
        ({"nonce": None}, "another login"),
        ({"iss": "http://evil.example"}, "another issuer"),
        ({"aud": "other"}, "another audience"),
        ({"aud": [CLIENT, "other"], "azp": "other"}, "another client"),
        ({"exp": 1}, "expired"),
        ({"exp": None}, "expired"),
        ({"sub": None, "preferred_username": None}, "names no user"),
    ],
)
async def test_a_token_that_says_something_else_is_refused(
    claims: dict[str, Any], reason: str
) -> None:
    async with provider() as scripted:
        scripted.claims = claims
        with pytest.raises(WebError, match=reason) as refused:
            await logged_in(of(scripted), scripted)
    assert refused.value.status == 403


@pytest.mark.parametrize("kid", ["first", "unknown"])
async def test_a_token_that_another_key_signed_is_refused(kid: str) -> None:
    async with provider() as scripted:
        scripted.signing = RsaIssuer(kid)
        with pytest.raises(WebError, match="is refused"):
            await logged_in(of(scripted), scripted)


async def test_a_new_key_is_fetched_but_not_for_every_unknown_one() -> None:
    now_s = 0.0
    async with provider() as scripted:
        known = OidcProvider(OidcOptions(scripted.url, CLIENT, OWN), lambda: now_s)
        assert (await logged_in(known, scripted)).name == "anna"
        scripted.key = scripted.signing = RsaIssuer("second")
        with pytest.raises(WebError, match="its key is not one"):
            await logged_in(known, scripted)
        now_s = 11.0
        assert (await logged_in(known, scripted)).name == "anna"


async def test_a_state_is_good_for_once_for_one_browser_and_for_ten_minutes() -> None:
    now_s = 0.0
    async with provider() as scripted:
        known = OidcProvider(OidcOptions(scripted.url, CLIENT, OWN), lambda: now_s)
        location, browser = await known.begin("/")
        state = scripted.follow(location)["state"]
        await known.finish(state, "code", browser)
        for wrong in (state, "", "unknown"):
            with pytest.raises(WebError, match="not known any more"):
                await known.finish(wrong, "code", browser)
        location, browser = await known.begin("/")
        with pytest.raises(WebError, match="in another browser"):
            await known.finish(scripted.follow(location)["state"], "code", "stolen")
        location, browser = await known.begin("/")
        now_s = 601.0
        with pytest.raises(WebError, match="not known any more"):
            await known.finish(scripted.follow(location)["state"], "code", browser)
    assert len(scripted.asked) == 1, "the code of a login that is not known is not used"


async def test_logins_that_never_come_back_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "_LOGINS_MAX", 3)
    async with provider() as scripted:
        known = of(scripted)
        for _ in range(10):
            await known.begin("/")
    assert len(known._started) == 3


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "https://evil.example", "", "/a\nb", "/" + "a" * 3000],
)
async def test_nobody_is_sent_elsewhere_after_a_login(target: str) -> None:
    async with provider() as scripted:
        known = of(scripted)
        location, browser = await known.begin(target)
        _, _, found = await known.finish(scripted.follow(location)["state"], "code", browser)
    assert found == "/"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"issuer": "http://evil.example"}, "is of the issuer"),
        ({"token_endpoint": "http://evil.example/token"}, "token_endpoint"),
        ({"jwks_uri": ""}, "jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
    ],
)
async def test_a_discovery_that_leads_elsewhere_is_refused(
    document: dict[str, str], message: str
) -> None:
    async with provider() as scripted:
        scripted.document = document
        with pytest.raises(WebError, match=message) as refused:
            await of(scripted).begin("/")
    assert refused.value.status == 502


async def test_a_provider_that_is_not_there_is_asked_again() -> None:
    known = OidcProvider(OidcOptions("http://127.0.0.1:1", CLIENT, OWN))
    for _ in range(2):
        with pytest.raises(WebError, match=r"identity provider at 127\.0\.0\.1:1"):
            await known.begin("/")


@pytest.mark.parametrize("url", ["http://login.example.org", "ftp://localhost", "localhost", ""])
def test_providers_and_consoles_are_reached_by_tls(url: str) -> None:
    with pytest.raises(ValueError, match="no address with https"):
        OidcOptions(url, CLIENT, OWN)
    with pytest.raises(ValueError, match="no address with https"):
        OidcOptions("https://login.example.org", CLIENT, url)
