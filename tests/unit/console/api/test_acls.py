"""Access rules are planned, added and removed, one by one and by what clients need."""

from collections.abc import AsyncIterator, Iterator

import pytest

from moldau.console.api.acls import acl_of, needed
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.web.errors import WebError
from unit.console.asking import Asking, asking

HOSTILE = '"><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def guarded() -> Iterator[EmbeddedBroker]:
    with running_broker(
        {
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:ANONYMOUS",
        }
    ) as running:
        yield running


@pytest.fixture
async def ruled(guarded: EmbeddedBroker) -> AsyncIterator[Asking]:
    async with asking({"local": {"bootstrap.servers": guarded.bootstrap_servers}}) as found:
        yield found


def rule(**changes: str) -> dict[str, str]:
    given = {"type": "topic", "name": "orders", "principal": "User:anna", "operation": "read"}
    return {**given, **changes}


async def test_what_a_consumer_needs_is_planned_added_and_removed(ruled: Asking) -> None:
    wanted = {"for": "consumer", "principal": "User:anna", "topic": "orders", "group": "billing"}
    plan = await ruled.send("POST", "/acls/plan", wanted)
    rows = [(each["type"], each["name"], each["operation"]) for each in plan["acls"]]
    assert rows == [
        ("topic", "orders", "read"),
        ("topic", "orders", "describe"),
        ("group", "billing", "read"),
    ]
    assert not any(each["exists"] for each in plan["acls"])
    assert "first rules of topic orders" in plan["notes"][0]
    assert (await ruled.get("/acls"))["acls"] == [], "a plan changes nothing"
    sent = {"acls": [{k: v for k, v in each.items() if k != "exists"} for each in plan["acls"]]}
    assert await ruled.send("POST", "/acls", sent) == {"created": 3}
    again = await ruled.send("POST", "/acls/plan", wanted)
    assert all(each["exists"] for each in again["acls"])
    assert again["notes"] == []
    gone = await ruled.send("POST", "/acls/plan", {**sent, "action": "remove"})
    assert "No rule of topic orders is left" in gone["notes"][0]
    assert await ruled.send("DELETE", "/acls", sent) == {"deleted": 3}
    assert (await ruled.get("/acls"))["acls"] == []


async def test_rules_are_found_by_what_they_are_about(ruled: Asking) -> None:
    rules = [
        rule(),
        rule(name="ord", pattern="prefixed", operation="write"),
        rule(name="payments", permission="deny", host="10.0.0.1"),
        rule(type="group", name=HOSTILE, principal=f"User:{HOSTILE}"),
    ]
    await ruled.send("POST", "/acls", {"acls": rules})

    async def names(query: str) -> list[str]:
        return [each["name"] for each in (await ruled.get(f"/acls?{query}"))["acls"]]

    assert await names("pattern=match&type=topic&name=orders") == ["ord", "orders"]
    assert await names("permission=deny") == ["payments"]
    assert await names("principal=User:anna&operation=write") == ["ord"]
    assert await names("type=group") == [HOSTILE]
    assert (await ruled.refused("GET", "/acls?type=door"))[0] == 400
    await ruled.send("DELETE", "/acls", {"acls": [rules[1]]})
    left = await names("type=topic")
    assert left == ["orders", "payments"], "rules with other patterns stay"
    await ruled.send("DELETE", "/acls", {"acls": [rules[0], *rules[2:]]})


async def test_brokers_without_an_authorizer_say_so(console: Asking) -> None:
    status, message = await console.refused("GET", "/acls")
    assert (status, message.partition(":")[0]) == (409, "SECURITY_DISABLED")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"type": "door"}, "type"),
        ({"operation": "create_tokens"}, "operation"),
        ({"operation": "any"}, "operation"),
        ({"permission": "any"}, "permission"),
        ({"pattern": "match"}, "pattern"),
        ({"principal": "anna"}, "principal"),
        ({"principal": "User:"}, "principal"),
        ({"name": ""}, "name"),
        ({"host": ""}, "host"),
    ],
)
def test_what_is_no_rule_is_refused_by_its_field(changes: dict[str, str], field: str) -> None:
    with pytest.raises(WebError, match=rf"^{field}:"):
        acl_of(rule(**changes))


def test_a_rule_of_the_cluster_needs_no_name() -> None:
    given = {"type": "cluster", "principal": "User:anna", "operation": "alter"}
    assert acl_of(given).resource_name == "kafka-cluster"


def test_a_producer_needs_rules_for_its_transactional_id_if_it_has_one() -> None:
    wanted = {"for": "producer", "principal": "User:anna", "topic": "orders"}
    assert {each.resource_name for each in needed(wanted)} == {"orders"}
    found = needed({**wanted, "transactional_id": "billing", "pattern": "prefixed"})
    assert {each.resource_name for each in found} == {"orders", "billing"}
