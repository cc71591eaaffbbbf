"""Users log in with their passwords of Kafka, and do what the cluster lets them do."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.admin.users import ScramDeletion, ScramPassword
from moldau.console import cluster as cluster_module
from moldau.console.access import ConsoleRights, Role, TopicGrant
from moldau.console.app import console_app
from moldau.console.audit import AuditTrail
from moldau.console.cluster import ConsoleCluster
from moldau.console.endpoints import Console
from moldau.console.login import kafka as kafka_module
from moldau.console.login.kafka import KafkaLogins, KafkaUser, takes_passwords
from moldau.console.sampling import Sampler
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.web.errors import WebError
from unit.broker.login.secured import ADMIN, ADMIN_PASSWORD, client, settings
from unit.console.asking import API, Asking, streaming

SCRAM = "SCRAM-SHA-256"
RULES = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": f"User:{ADMIN}",
}


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedBroker]:
    """Anna and Bob have passwords; Anna may read one topic, Bob none."""

    async def fill(servers: str) -> None:
        options = client(servers, "PLAIN", ADMIN, ADMIN_PASSWORD)
        async with Admin(options) as admin:
            users = [
                ScramPassword(each, f"{each}'s", SCRAM) for each in ("anna", "bob", "carl", "dora")
            ]
            (await admin.alter_user_scram_credentials(users)).check()
            (await admin.create_topics([NewTopic("hers", 1), NewTopic("others", 1)])).check()
            rule = Acl(
                resource_type=ResourceType.TOPIC,
                resource_name="hers",
                principal="User:anna",
                operation=Operation.READ,
            )
            (await admin.create_acls([rule])).check()

    with running_broker({**settings(), **RULES}) as running:
        asyncio.run(fill(running.bootstrap_servers))
        yield running


def clusters_of(broker: EmbeddedBroker) -> dict[str, dict[str, object]]:
    options = client(broker.bootstrap_servers, SCRAM, "", "")
    return {"local": {**options, "sasl.jaas.config": ""}}


class Clock:
    """A time that stands still until it is moved."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@asynccontextmanager
async def console(
    broker: EmbeddedBroker, rights: ConsoleRights | None = None
) -> AsyncIterator[tuple[Asking, KafkaLogins, Clock]]:
    clock = Clock()
    clusters = clusters_of(broker)
    own = ConsoleCluster("local", clusters["local"])
    found = Console(
        {"local": own}, {"local": Sampler(own)}, rights or ConsoleRights(), AuditTrail()
    )
    async with asyncio.TaskGroup() as tasks:
        logins = KafkaLogins(clusters, clock)
        logins.tasks = tasks
        try:
            yield Asking(found, console_app(found, logins=logins)), logins, clock
        finally:
            await logins.close()


def basic(name: str, password: str = "") -> str:
    login = f"{name}:{password or name + chr(39) + 's'}"
    return f"Basic {base64.b64encode(login.encode()).decode()}"


async def ask(
    asking: Asking, path: str, who: str, method: str = "GET", body: object = None
) -> tuple[int, Any]:
    answer = await asking.ask(method, path, body, headers={"authorization": basic(who)})
    return (answer.status, json.loads(answer.body.splitlines()[0]))


async def test_the_cluster_says_who_is_let_in(secured: EmbeddedBroker) -> None:
    async with console(secured) as (asking, _, _):
        assert (await asking.ask("GET", "/api/me")).status == 401
        for header in (
            basic("anna", "wrong"),
            basic("eve"),
            "Basic ???",
            "Bearer x",
            basic("", ""),
        ):
            answer = await asking.ask("GET", "/api/me", headers={"authorization": header})
            assert answer.status == 401, header
        assert answer.headers["www-authenticate"].startswith("Basic")
        status, me = await ask(asking, "/api/me", "anna")
    assert (status, me["name"], me["role"], me["beside"]) == (200, "anna", "admin", "viewer")
    assert me["is_ruled_by_cluster"]


async def test_everybody_sees_and_does_what_the_cluster_allows(secured: EmbeddedBroker) -> None:
    async with console(secured) as (asking, _, _):
        (_, hers), (_, nothing) = [
            await ask(asking, f"{API}/topics", who) for who in ("anna", "bob")
        ]
        assert [each["name"] for each in hers["topics"]] == ["hers"]
        assert nothing["topics"] == []
        _, found = await ask(asking, f"{API}/topics/hers/messages", "anna")
        assert "end" in found
        _, refused = await ask(asking, f"{API}/topics/hers/messages", "bob")
        assert "AUTHORIZATION" in refused["error"] or "UNKNOWN_TOPIC" in refused["error"]
        status, why = await ask(asking, f"{API}/topics", "anna", "POST", {"name": "new"})
        assert (status, "AUTHORIZATION" in why["message"]) == (403, True)


async def test_beside_the_cluster_roles_decide(secured: EmbeddedBroker) -> None:
    path = f"{API}/connect/worker/connectors/x/restart"
    rights = ConsoleRights(grants=(TopicGrant(("bob",), Role.OPERATOR),))
    async with console(secured, rights) as (asking, _, _):
        assert (await ask(asking, path, "anna", "POST", {}))[0] == 403
        assert (await ask(asking, path, "bob", "POST", {}))[0] == 404
    async with console(secured, ConsoleRights(is_read_only=True)) as (asking, _, _):
        status, why = await ask(asking, f"{API}/topics", "anna", "POST", {"name": "new"})
        assert (status, why["message"]) == (403, "anna is reader: this takes admin")


async def test_numbers_of_a_user_are_of_what_the_user_may_see(secured: EmbeddedBroker) -> None:
    async with console(secured) as (asking, _, _):
        given = {"authorization": basic("anna")}
        async with streaming(asking.app, "/events?topics=1", given) as stream:
            _, said = await stream.event("numbers")
        assert list(said["topics"]) == ["hers"]


async def test_a_password_is_verified_again_after_a_while(secured: EmbeddedBroker) -> None:
    async with console(secured) as (_, logins, clock):
        user = await logins.authenticate(basic("carl"))
        assert isinstance(user, KafkaUser)
        async with Admin(
            client(secured.bootstrap_servers, "PLAIN", ADMIN, ADMIN_PASSWORD)
        ) as admin:
            (await admin.alter_user_scram_credentials([ScramDeletion("carl", SCRAM)])).check()
        assert await logins.authenticate(basic("carl")) is user
        clock.now_s += 301
        assert await logins.authenticate(basic("carl")) is None
        assert all(each.is_closed for each in user.samplers.values()), "tabs are let go"


async def test_several_requests_of_a_page_are_one_login(secured: EmbeddedBroker) -> None:
    async with console(secured) as (_, logins, clock):
        users = await asyncio.gather(*(logins.authenticate(basic("anna")) for _ in range(6)))
        assert len({id(each) for each in users}) == 1
        clock.now_s += 301
        assert await logins.authenticate(basic("anna")) is users[0], "connections stay"


async def test_logins_that_nobody_uses_are_forgotten_and_there_are_so_many(
    secured: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_module, "_USERS_MAX", 2)
    async with console(secured) as (_, logins, clock):
        anna = await logins.authenticate(basic("anna"))
        clock.now_s += 3601
        await logins.authenticate(basic("bob"))
        again = await logins.authenticate(basic("anna"))
        assert again is not anna
        assert await logins.authenticate(basic(ADMIN, ADMIN_PASSWORD)) is None, "not by SCRAM"
        clock.now_s += 1
        await logins.authenticate(basic("dora"))
        assert await logins.authenticate(basic("anna")) is again
        assert isinstance(again, KafkaUser)
        clock.now_s += 1
        await logins.authenticate(basic("bob"))
        await logins.authenticate(basic("dora"))
        assert again.samplers["local"].is_closed, "who was away for the longest makes room"


async def test_a_cluster_that_is_away_lets_nobody_new_in(
    secured: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.2)
    async with console(secured) as (_, logins, clock):
        anna = await logins.authenticate(basic("anna"))
        logins.clusters = {
            "local": {**clusters_of(secured)["local"], "bootstrap.servers": "127.0.0.1:1"}
        }
        with pytest.raises(WebError, match="logins cannot be checked") as caught:
            await logins.authenticate(basic("bob"))
        assert caught.value.status == 503
        clock.now_s += 301
        assert await logins.authenticate(basic("anna")) is anna


@pytest.mark.parametrize(
    ("protocol", "mechanism", "expected"),
    [
        ("SASL_SSL", "SCRAM-SHA-512", True),
        ("sasl_plaintext", "plain", True),
        ("SASL_SSL", "OAUTHBEARER", False),
        ("SSL", "PLAIN", False),
        ("", "", False),
    ],
)
def test_only_passwords_can_be_passed_on(protocol: str, mechanism: str, *, expected: bool) -> None:
    given = {"security.protocol": protocol, "sasl.mechanism": mechanism}
    assert takes_passwords(given) is expected
