"""Who is not known, may not write, or comes from elsewhere does not reach the application."""

import base64
import json

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.web.access import AccessControl, RequestRules
from moldau.web.application import application
from moldau.web.users import User, Users
from unit.web.requests import Asked, ask


async def who(request: Request) -> Response:
    user = request.state.user
    return JSONResponse(None if user is None else user.name)


APP = application([Route("/", who, methods=["GET", "POST"])])
USERS = Users(["anna: secret", "bob: secret, read-only"])
FOREIGN = {"host": "registry.example.org"}


async def asked(rules: RequestRules, method: str = "GET", user: str = "", **headers: str) -> Asked:
    if user:
        encoded = base64.b64encode(f"{user}:secret".encode()).decode()
        headers["authorization"] = f"Basic {encoded}"
    return await ask(AccessControl(APP, rules), method, "/", headers=headers)


async def test_without_users_everybody_is_let_in() -> None:
    assert (await asked(RequestRules(), "POST")).body == b"null"


async def test_with_users_only_they_are_and_it_is_known_who_asks() -> None:
    rules = RequestRules(USERS)
    assert json.loads((await asked(rules, user="anna")).body) == "anna"
    refused = await asked(rules)
    assert refused.status == 401
    assert refused.headers["www-authenticate"].startswith("Basic")
    assert json.loads(refused.body)["error_code"] == 401
    assert (await asked(rules, user="eve")).status == 401


async def test_another_server_may_know_the_passwords() -> None:
    class Elsewhere:
        async def authenticate(self, header: str) -> User | None:
            return USERS.authenticate(header)

    rules = RequestRules(logins=Elsewhere())
    assert json.loads((await asked(rules, user="anna")).body) == "anna"
    refused = await asked(rules, user="eve")
    assert refused.status == 401
    assert refused.headers["www-authenticate"].startswith("Basic")
    assert (await asked(rules)).status == 401


async def test_a_read_only_user_may_not_write() -> None:
    rules = RequestRules(USERS)
    assert (await asked(rules, "GET", "bob")).status == 200
    assert (await asked(rules, "POST", "bob")).status == 403
    assert (await asked(rules, "POST", "anna")).status == 200


async def test_the_application_says_what_is_only_reading() -> None:
    rules = RequestRules(USERS, is_read=lambda request: True)
    assert (await asked(rules, "POST", "bob")).status == 200


@pytest.mark.parametrize("host", ["registry.example.org", "evil.test:8081", "", "localhost.evil"])
async def test_a_name_that_was_made_to_point_here_is_not_answered_to(host: str) -> None:
    assert (await asked(RequestRules(), host=host)).status == 421
    assert (await asked(RequestRules(is_loopback=False), host=host or "x")).status == 200
    assert (await asked(RequestRules(USERS), user="anna", host=host)).status == 200


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8081"])
async def test_this_machines_own_names_are(host: str) -> None:
    assert (await asked(RequestRules(), host=host)).status == 200


async def test_pages_of_other_sites_may_not_write() -> None:
    rules = RequestRules()
    assert (await asked(rules, "POST", origin="https://evil.test")).status == 403
    assert (await asked(rules, "POST", origin="http://localhost:8081")).status == 200


async def test_only_names_that_it_is_served_under_are_answered_to() -> None:
    rules = RequestRules(USERS, hosts=("console.example",))
    assert (await asked(rules, user="anna", host="Console.example")).status == 200
    assert (await asked(rules, user="anna", host="evil.example")).status == 421
