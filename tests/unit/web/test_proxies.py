"""A proxy's word is taken from its own address alone."""

import json

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from moldau.web.access import AccessControl, RequestRules
from moldau.web.application import application
from moldau.web.proxies import TrustedProxy, groups_of
from unit.web.requests import ask


def request(host: str | None, *headers: tuple[str, str]) -> Request:
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    client = None if host is None else (host, 1)
    return Request({"type": "http", "headers": encoded, "client": client})


ANNA = ("x-forwarded-user", "anna")


@pytest.mark.parametrize("host", ["10.0.0.1", "10.1.2.3", "::ffff:10.0.0.1", "fd00::1"])
def test_a_trusted_proxy_vouches_for_users_and_groups(host: str) -> None:
    proxy = TrustedProxy(["10.0.0.0/8", "fd00::/8"])
    found = proxy.recognise(request(host, ANNA, ("x-forwarded-groups", "ops, dev,,admin")))
    assert found is not None
    assert found.name == "anna"
    assert found.roles == ("group:ops", "group:dev", "group:admin"), "none is a role by its name"


@pytest.mark.parametrize("host", ["11.0.0.1", "::1", None, "nonsense"])
def test_nobody_else_does(host: str | None) -> None:
    assert TrustedProxy(["10.0.0.0/8"]).recognise(request(host, ANNA)) is None


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("x-forwarded-user", " "),),
        (ANNA, ("x-forwarded-user", "root")),
        (("x-user", "a"),),
        (("x-forwarded-user", "a" * 201),),
        (("x-forwarded-user", "a\x1b[2J"),),
    ],
)
def test_one_name_that_can_be_read_is_needed(headers: tuple[tuple[str, str], ...]) -> None:
    assert TrustedProxy(["10.0.0.1"]).recognise(request("10.0.0.1", *headers)) is None


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        TrustedProxy(["proxy.example.org"])


def test_groups_are_so_many_texts() -> None:
    assert groups_of(["a", 1, "", None]) == ("group:a",)
    assert len(groups_of(str(each) for each in range(1000))) == 500


async def test_without_the_proxy_nobody_is_let_in() -> None:
    async def who(asked: Request) -> Response:
        return JSONResponse(asked.state.user.name)

    rules = RequestRules(recognisers=(TrustedProxy(["127.0.0.1"]).recognise,))
    app = AccessControl(application([Route("/", who)]), rules)
    known = await ask(app, "GET", "/", headers={"x-forwarded-user": "anna", "host": "console"})
    assert json.loads(known.body) == "anna"
    refused = await ask(app, "GET", "/")
    assert refused.status == 401
    assert "www-authenticate" not in refused.headers, "a password would not help"
