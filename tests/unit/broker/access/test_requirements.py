"""Every line of the table of rights, tried: what is denied, what is told, and what is done."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from moldau.broker.access.requirements import REQUIREMENTS, Hidden, Requirement, Right, table
from moldau.broker.routes import ROUTES
from moldau.cli.acls import OPTIONS
from moldau.cli.terminal.access_options import pattern_type, wanted_rules
from moldau.config.properties import parse_properties
from moldau.errors import ErrorCode
from moldau.security.acls import (
    CLUSTER_NAME,
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.authorization import Asker
from moldau.security.principals import Principal
from unit.broker.access.denials import recorded, told, values_in
from unit.broker.access.samples import MISSING, THERE, lines, make_things, names_of, sample
from unit.broker.access_world import (
    HOST,
    ROOT,
    access_world,
    acl,
    client,
    prefixed,
    set_rules,
    store_of,
)
from unit.broker.ways import FAST_APIS, Way
from unit.broker.world import World, broker_world

FAST_NAMES = {route.name: route.api.key for route in ROUTES if route.api.key in FAST_APIS}
THERE_OR_NOT = (THERE, MISSING)
PAGE = (Path(__file__).parents[4] / "docs" / "security.md").read_text()
FIELDS = {
    ResourceType.TOPIC: ("name", "topic"),
    ResourceType.GROUP: ("group_id",),
    ResourceType.TRANSACTIONAL_ID: ("transactional_id",),
}
"""Where answers name things."""
SAID_ONCE = (
    "LeaderAndIsr",
    "StopReplica",
    "AlterPartitionReassignments",
    "ListPartitionReassignments",
)
"""Here the error of the whole answer is enough; Apache repeats it, or the names, below."""
LINES = [
    (api, number, way)
    for api, number in lines()
    for way in (Way if api in FAST_NAMES else (Way.FAST,))
]


def test_every_api_that_is_served_has_its_line() -> None:
    """Of one that has none nobody has thought about rights."""
    assert {route.name for route in ROUTES} <= REQUIREMENTS.keys()


def test_the_table_is_made_of_all_lines() -> None:
    lines_of_table = table()
    assert "| Produce | Write Topic | each topic | TOPIC_AUTHORIZATION_FAILED (29) |" in (
        lines_of_table
    )
    assert "| ApiVersions | none | | |" in lines_of_table
    assert any(line.startswith("| AddPartitionsToTxn v0–3 |") for line in lines_of_table)
    assert any(line.startswith("| AddPartitionsToTxn v4+ |") for line in lines_of_table)


@pytest.mark.parametrize(("api", "number", "way"), LINES)
async def test_a_right_is_needed_and_enough(api: str, number: int, way: Way) -> None:
    requirement = REQUIREMENTS[api][number]
    others = [acl(right.operation, right.resource_type, "*") for right in other_rights(api, number)]
    async with access_world({"auto.create.topics.enable": "true"}, way=way) as world:
        await make_things(world, ROOT)
        for name in names_of(api, number):
            for case, rules in denying(requirement, name):
                set_rules(world, [*others, *rules])
                before = await state_of(world)
                answer = await ask(world, api, number, name)
                assert is_denied(answer, requirement, name), (case, name, answer)
                assert await state_of(world) == before, (case, name)
        for name in names_of(api, number):
            for case, rules in allowing(requirement, name):
                set_rules(world, [*others, *rules])
                answer = await ask(world, api, number, name)
                assert not is_denied(answer, requirement, name), (case, name, answer)
        if api in FAST_NAMES and way is not Way.HANDLER:
            assert world.fast_paths.answered[FAST_NAMES[api]]


@pytest.mark.parametrize(("api", "number", "way"), LINES)
async def test_super_users_need_none_and_with_a_setting_nobody_does_without_rules(
    api: str, number: int, way: Way
) -> None:
    requirement = REQUIREMENTS[api][number]
    async with access_world({"auto.create.topics.enable": "true"}, way=way) as world:
        await make_things(world, ROOT)
        for name in names_of(api, number):
            request, version = sample(api, number, name)
            answer = await world.ask(request, version, client=ROOT)
            assert not is_denied(answer, requirement, name), answer
        store_of(world).rules._is_open_without_rules = True
        for name in names_of(api, number):
            answer = await ask(world, api, number, name)
            assert not is_denied(answer, requirement, name), answer


@pytest.mark.parametrize(("api", "number"), list(lines()))
async def test_what_is_denied_looks_the_same_whether_it_exists_or_not(
    api: str, number: int
) -> None:
    async with access_world() as world:
        await make_things(world, ROOT)
        answers = []
        for name in THERE_OR_NOT:
            answer = await ask(world, api, number, name)
            answers.append([(field, value) for field, value in values_in(answer) if value != name])
        assert answers[0] == answers[1]


async def test_apache_kafka_denies_in_the_same_words() -> None:
    """Recorded by `conformance/record_denials.py`; what it does not serve was not answered."""
    others = []
    async with access_world() as world:
        await make_things(world, ROOT)
        for api, number, name, answer in recorded():
            if answer is not None:
                ours = told(await ask(world, api, number, name), name) or []
                if api in SAID_ONCE:
                    ours, answer = ours[:1], answer[:1]  # noqa: PLW2901
                if ours != answer:
                    others.append((api, number, name, ours, answer))
    assert not others, "\n".join(map(str, others))


async def ask(world: World, api: str, number: int, name: str) -> Any:
    request, version = sample(api, number, name)
    return await world.ask(request, version, client=client("alice"))


def other_rights(api: str, number: int) -> Iterable[Right]:
    """What the other lines of an API need, but for what would give this one, too."""
    mine = REQUIREMENTS[api][number].rights
    return [
        right
        for other, requirement in enumerate(REQUIREMENTS[api])
        for right in requirement.rights
        if other != number and right not in mine
    ]


def denying(requirement: Requirement, name: str) -> list[tuple[str, list[Acl]]]:
    allowed = [rule_of(right, name) for right in requirement.rights]
    denied = [rule_of(right, name, permission=Permission.DENY) for right in requirement.rights]
    return [
        ("no right", []),
        ("denied, and allowed", [*denied, *allowed]),
        ("other host", [rule_of(right, name, host="10.9.9.9") for right in requirement.rights]),
        ("other user", [rule_of(right, name, principal="User:b") for right in requirement.rights]),
    ]


def allowing(requirement: Requirement, name: str) -> Iterable[tuple[str, list[Acl]]]:
    for right in requirement.rights:
        yield f"{right} allowed", [rule_of(right, name, host=HOST)]
        yield f"{right} of all", [acl(*right, "*")]
        yield f"{right} for everyone", [rule_of(right, name, principal="User:*")]
        prefix = CLUSTER_NAME[:5] if right.resource_type is ResourceType.CLUSTER else name[:5]
        yield f"{right} of a prefix", [prefixed(*right, prefix)]


def rule_of(right: Right, name: str, **others: Any) -> Acl:
    is_cluster = right.resource_type is ResourceType.CLUSTER
    return acl(*right, CLUSTER_NAME if is_cluster else name, **others)


def is_denied(answer: Any, requirement: Requirement, name: str) -> bool:
    if requirement.denied is Hidden.LEFT_OUT:
        fields = FIELDS[requirement.rights[-1].resource_type]
        return name not in [value for field, value in values_in(answer) if field in fields]
    if requirement.denied is Hidden.NO_OPERATIONS:
        operations: int = answer.cluster_authorized_operations
        return operations == 0
    return requirement.denied in codes_in(answer)


def codes_in(message: Any) -> list[ErrorCode]:
    """All errors of an answer."""
    return [ErrorCode(value) for name, value in values_in(message) if name.endswith("error_code")]


async def state_of(world: World) -> list[object]:
    """What a request could have changed: the tree, and the logs."""
    logs = [
        (name, log.log_end_offset, log.log_start_offset)
        for directory in world.broker.logs.directories
        for name, log in directory.logs.items()
    ]
    return [await nodes_below(world, "/"), logs]


async def nodes_below(world: World, path: str) -> list[object]:
    found: list[object] = [(path, (await world.tree.get(path)).data)]
    for name in await world.tree.children(path):
        found += await nodes_below(world, f"{path.rstrip('/')}/{name}")
    return found


def test_cve_2026_41115_the_page_in_docs_has_the_table_that_the_code_has() -> None:
    assert "\n".join(table()) in PAGE, "docs/security.md: put in what table() gives"


async def test_the_recipe_in_docs_does_what_it_says() -> None:
    section = PAGE.partition("## Access rules")[2]
    settings = parse_properties(section.partition("```properties\n")[2].partition("```")[0])
    commands = section.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert len(commands) == 4
    async with broker_world(settings) as world:
        rules = store_of(world).rules
        for command in commands:
            given = OPTIONS.parse(shlex.split(command)[1:])
            wanted = wanted_rules(given, pattern_type(given, PatternType.LITERAL))
            for one in wanted:
                await store_of(world).add(one.pattern, [one])

        def may(who: str, operation: Operation, name: str) -> bool:
            asker = Asker.of(Principal("User", who), HOST)
            return rules.allow(asker, operation, ResourceType.TOPIC, name)

        assert may("alice", Operation.WRITE, "orders")
        assert not may("alice", Operation.READ, "orders")
        assert may("bob", Operation.READ, "orders")
        assert not may("eve", Operation.DESCRIBE, "orders")
        assert may("eve", Operation.DESCRIBE, "public-news")
        assert may("admin", Operation.DELETE, "orders")
        assert may("CN=broker,O=Moldau", Operation.DELETE, "orders")
        bob = Asker.of(Principal("User", "bob"), HOST)
        assert rules.allow(bob, Operation.READ, ResourceType.GROUP, "billing")
