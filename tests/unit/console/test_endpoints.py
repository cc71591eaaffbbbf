"""Every path takes a role, and one gate looks at it."""

import itertools
import json
from pathlib import Path

import pytest

from moldau.console.access import ConsoleRights, Role
from moldau.console.app import ENDPOINTS
from moldau.console.endpoints import ApiEndpoint, web_error
from moldau.errors import ErrorCode, KafkaError
from moldau.web.users import Users
from unit.console.asking import API, asking
from unit.web.requests import ask

NOWHERE = {"local": {"bootstrap.servers": "127.0.0.1:1"}}
WALK = list(itertools.product(ENDPOINTS, Role))


def path_of(endpoint: ApiEndpoint) -> str:
    parts = ("cluster", "topic", "group", "broker", "partition", "offset", "subject", "version")
    return endpoint.path.format(**dict.fromkeys(parts, "0")).replace("clusters/0", "clusters/x")


@pytest.mark.parametrize(
    ("endpoint", "role"), WALK, ids=[f"{e.method} {e.path} as {r.name}" for e, r in WALK]
)
async def test_a_lesser_role_is_refused(endpoint: ApiEndpoint, role: Role) -> None:
    async with asking(NOWHERE, ConsoleRights(anonymous=role)) as console:
        answer = await console.ask(endpoint.method, path_of(endpoint))
    if role < endpoint.role:
        assert answer.status == 403
        assert endpoint.role.name.lower() in json.loads(answer.body)["message"]
    else:
        assert answer.status == (200 if endpoint.path == "/api/console" else 404), "let through"


def test_what_changes_something_takes_an_operator_and_is_noted() -> None:
    for each in ENDPOINTS:
        if each.method != "GET" and not each.path.endswith("/plan"):
            assert each.role >= Role.OPERATOR, each.path
        assert each.is_audited == (each.method != "GET" or each.is_audited_read), each.path


async def test_read_only_holds_for_programs_too() -> None:
    async with asking(NOWHERE, ConsoleRights(is_read_only=True)) as console:
        status, message = await console.refused("POST", "/topics", {"name": "a"})
    assert (status, message) == (403, "anonymous is reader: this takes admin")


async def test_users_have_the_roles_of_their_file() -> None:
    users = Users(["anna: secret, admin", "bob: secret"], ("viewer", "admin"))
    async with asking(NOWHERE, users=users) as console:
        answers = [
            await ask(console.app, "GET", "/api/console", headers=headers)
            for headers in (
                {"authorization": "Basic YW5uYTpzZWNyZXQ="},
                {"authorization": "Basic Ym9iOnNlY3JldA=="},
                {},
            )
        ]
    assert [each.status for each in answers] == [200, 200, 401]
    roles = [json.loads(each.body)["actor"]["role"] for each in answers[:2]]
    assert roles == ["admin", "viewer"]


async def test_a_body_that_is_no_object_is_refused() -> None:
    async with asking(NOWHERE) as console:
        status, message = await console.refused("POST", "/topics", [1])
        assert (status, message) == (400, "the body is no JSON object")
        form = await console.ask(
            "POST", f"{API}/topics", {}, {"content-type": "application/x-www-form-urlencoded"}
        )
    assert form.status == 415


async def test_refusals_are_noted_with_who_asked(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    async with asking(NOWHERE, ConsoleRights(anonymous=Role.VIEWER), audit=str(path)) as console:
        await console.refused("DELETE", "/topics/a%2Fb", {"confirm": "a/b"})
        await console.ask("GET", "/api/console")
    (line,) = path.read_text().splitlines()
    noted = json.loads(line)
    assert noted["action"] == f"DELETE {API}/topics/a/b"
    assert (noted["actor"], noted["status"]) == ("anonymous", 403)


def test_errors_of_the_cluster_keep_their_codes() -> None:
    forbidden = web_error(KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "orders"))
    assert (forbidden.status, forbidden.code) == (403, 29)
    assert forbidden.message == "TOPIC_AUTHORIZATION_FAILED: orders"
    assert web_error(KafkaError(ErrorCode.REQUEST_TIMED_OUT)).status == 503
    assert web_error(KafkaError(ErrorCode.INVALID_CONFIG)).status == 409
