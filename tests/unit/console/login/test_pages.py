"""A browser is sent to the provider, comes back once, and is known from then on."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from moldau.console.access import ConsoleRights, Role, TopicGrant
from moldau.console.app import console_app
from moldau.console.audit import AuditTrail
from moldau.console.cluster import ConsoleCluster
from moldau.console.endpoints import Console
from moldau.console.login.oidc import OidcOptions, OidcProvider
from moldau.console.login.sessions import BrowserLogins
from moldau.console.sampling import Sampler
from unit.console.asking import Asking
from unit.console.login.provider import CLIENT, ScriptedProvider, provider

OWN = "http://localhost:8081"


@asynccontextmanager
async def console() -> AsyncIterator[tuple[Asking, ScriptedProvider]]:
    cluster = ConsoleCluster("local", {"bootstrap.servers": "127.0.0.1:1"})
    grants = (TopicGrant(("group:ops",), Role.OPERATOR),)
    async with provider() as scripted:
        found = Console(
            {"local": cluster},
            {"local": Sampler(cluster)},
            ConsoleRights(grants=grants),
            AuditTrail(),
            sessions=BrowserLogins(is_secure=False),
        )
        known = OidcProvider(OidcOptions(scripted.url, CLIENT, OWN))
        yield Asking(found, console_app(found, provider=known)), scripted


async def log_in(asking: Asking, scripted: ScriptedProvider) -> str:
    """The cookie of a login."""
    begun = await asking.ask("GET", "/oidc/login?to=%2Fc%2Flocal")
    query = scripted.follow(begun.headers["location"])
    mark = begun.headers["set-cookie"].partition(";")[0]
    path = f"/oidc/callback?state={query['state']}&code=x"
    back = await asking.ask("GET", path, headers={"cookie": mark})
    assert back.status == 200, back.body
    assert b"url=/c/local" in back.body
    return f"moldau={back.cookies['moldau']}"


async def test_a_stranger_is_sent_to_the_provider_and_comes_back() -> None:
    async with console() as (asking, scripted):
        page = await asking.ask("GET", "/c/local/topics/a%2Fb?q=1")
        assert page.status == 302
        assert page.headers["location"] == "/oidc/login?to=%2Fc%2Flocal%2Ftopics%2Fa%252Fb%3Fq%3D1"
        assert (await asking.ask("GET", "/api/console")).status == 401
        cookie = await log_in(asking, scripted)
        assert (await asking.ask("GET", "/c/local", headers={"cookie": cookie})).status == 200
        me = json.loads((await asking.ask("GET", "/api/me", headers={"cookie": cookie})).body)
    assert (me["name"], me["role"]) == ("anna", "operator")
    assert me["groups"] == ["group:ops", "group:admin"], "a group is not a role by its name"
    assert me["claims"]["sub"] == "1234"


async def test_a_login_ends_when_its_user_says_so() -> None:
    async with console() as (asking, scripted):
        cookie = await log_in(asking, scripted)
        foreign = {"cookie": cookie, "origin": "https://evil.example"}
        assert (await asking.ask("POST", "/oidc/logout", headers=foreign)).status == 403
        assert (await asking.ask("GET", "/oidc/logout", headers={"cookie": cookie})).status == 405
        assert (await asking.ask("GET", "/api/me", headers={"cookie": cookie})).status == 200
        await asking.ask("POST", "/oidc/logout", headers={"cookie": cookie})
        assert (await asking.ask("GET", "/api/me", headers={"cookie": cookie})).status == 401


async def test_pages_of_other_sites_cannot_use_a_login() -> None:
    async with console() as (asking, scripted):
        headers = {"cookie": await log_in(asking, scripted), "origin": "https://evil.example"}
        path = "/api/clusters/local/connect/w/connectors/x/pause"
        assert (await asking.ask("POST", path, {}, headers)).status == 403
        other = {"host": "evil.example"}
        assert (await asking.ask("GET", "/api/console", headers=other)).status == 421
        assert (await asking.ask("GET", "/oidc/login", headers=other)).status == 421


async def test_what_the_provider_says_is_text() -> None:
    async with console() as (asking, _):
        path = "/oidc/callback?error=denied&error_description=%3Cscript%3Ealert(1)%3C%2Fscript%3E"
        answer = await asking.ask("GET", path)
    assert answer.status == 403
    assert b"<script>" not in answer.body
    assert b"&lt;script&gt;" in answer.body
    assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_a_code_without_the_browser_it_was_asked_for_is_refused() -> None:
    async with console() as (asking, scripted):
        begun = await asking.ask("GET", "/oidc/login")
        state = scripted.follow(begun.headers["location"])["state"]
        answer = await asking.ask("GET", f"/oidc/callback?state={state}&code=x")
    assert answer.status == 403
    assert scripted.asked == []
