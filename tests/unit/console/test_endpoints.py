"""Every path takes a role, and one gate looks at it."""

import itertools
import json
import re
from pathlib import Path

import pytest

from moldau.client.admin.outcomes import Outcomes
from moldau.console.access import ConsoleRights, Role, TopicGrant
from moldau.console.app import ENDPOINTS
from moldau.console.endpoints import ApiEndpoint, answered, silent, web_error
from moldau.errors import ErrorCode, KafkaError
from moldau.web.users import Users
from unit.console.asking import API, asking
from unit.web.requests import ask

NOWHERE = {"local": {"bootstrap.servers": "127.0.0.1:1"}}
WALK = list(itertools.product(ENDPOINTS, Role))


def path_of(endpoint: ApiEndpoint) -> str:
    return re.sub(r"\{\w+\}", "0", endpoint.path).replace("clusters/0", "clusters/x")


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
        assert answer.status == (404 if "{cluster}" in endpoint.path else 200), "let through"


def test_what_changes_something_takes_an_operator_and_is_noted() -> None:
    for each in ENDPOINTS:
        if each.method != "GET" and not each.path.endswith("/plan"):
            assert each.role >= Role.OPERATOR, each.path
        assert each.is_audited == (each.method != "GET" or each.is_audited_read), each.path


async def test_read_only_holds_for_programs_too() -> None:
    async with asking(NOWHERE, ConsoleRights(is_read_only=True)) as console:
        status, message = await console.refused("POST", "/topics", {"name": "a"})
    assert (status, message) == (403, "anonymous is reader: this takes admin")


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
async def test_pages_of_other_sites_ask_in_vain(site: str, mode: str, status: int) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    async with asking(NOWHERE) as console:
        answer = await console.ask("GET", "/api/console", headers=headers)
    assert answer.status == status


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


def test_what_some_brokers_said_is_told_without_the_others() -> None:
    lost = KafkaError(ErrorCode.REQUEST_TIMED_OUT, "no answer")
    found = Outcomes({1: ["a"], 2: lost})
    assert answered(found) == {1: ["a"]}
    assert silent(found) == [{"broker": 2, "error": "REQUEST_TIMED_OUT", "message": "no answer"}]
    with pytest.raises(KafkaError, match="no answer"):
        answered(Outcomes[int, list[str]]({1: lost}))
    assert answered(Outcomes[int, list[str]]({})) == {}


OF_TOPICS = [each for each in ENDPOINTS if "{topic}" in each.path]


@pytest.mark.parametrize("endpoint", OF_TOPICS, ids=lambda each: f"{each.method} {each.path}")
@pytest.mark.parametrize("role", Role)
async def test_a_role_on_a_topic_is_one_on_that_topic_alone(
    endpoint: ApiEndpoint, role: Role
) -> None:
    users = Users(["anna: secret"], ("viewer",))
    rights = ConsoleRights(grants=(TopicGrant(("anna",), role, ("mine-*",)),))
    headers = {"authorization": "Basic YW5uYTpzZWNyZXQ="}
    async with asking(NOWHERE, rights, users=users) as console:
        for topic, own in (("mine-1", role), ("other", Role.VIEWER)):
            path = path_of(endpoint).replace("/topics/0", f"/topics/{topic}")
            answer = await console.ask(endpoint.method, path, headers=headers)
            assert answer.status == (403 if own < endpoint.role else 404), path
