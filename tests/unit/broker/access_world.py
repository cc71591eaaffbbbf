"""A broker with access rules, and clients of different names."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from moldau.broker.access.rule_store import AccessRuleStore
from moldau.broker.context import Client
from moldau.security.acls import (
    CLUSTER_NAME,
    Acl,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.principals import Principal
from unit.broker.group_client import SETTINGS as GROUP_SETTINGS
from unit.broker.ways import Way
from unit.broker.world import World, broker_world

SETTINGS = {
    **GROUP_SETTINGS,
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:root",
    "transaction.state.log.num.partitions": "1",
}
HOST = "10.0.0.9"


def client(name: str, host: str = HOST) -> Client:
    return Client("PLAINTEXT", host, "10.0.0.1", 9092, principal=Principal("User", name))


ROOT = client("root")


class AskingAs:
    """A world in which one client asks."""

    def __init__(self, world: World, client: Client) -> None:
        self.broker, self.create_topic = world.broker, world.create_topic
        self._world, self._client = world, client

    async def ask(self, request: object, version: int) -> Any:
        return await self._world.ask(request, version, client=self._client)


def acl(
    operation: Operation,
    resource_type: ResourceType = ResourceType.CLUSTER,
    name: str = CLUSTER_NAME,
    **others: Any,
) -> Acl:
    """A rule for Alice, unless it says otherwise."""
    given = {"principal": "User:alice", "permission": Permission.ALLOW, **others}
    return Acl(resource_type=resource_type, resource_name=name, operation=operation, **given)


def prefixed(operation: Operation, resource_type: ResourceType, name: str, **others: Any) -> Acl:
    return acl(operation, resource_type, name, pattern_type=PatternType.PREFIXED, **others)


def set_rules(world: World, rules: Iterable[Acl]) -> None:
    """Let there be these rules and no others, here, past the tree."""
    patterns: dict[AclPattern, list[Acl]] = {}
    for one in rules:
        patterns.setdefault(one.pattern, []).append(one)
    store_of(world).rules.replace(patterns.items())


def store_of(world: World) -> AccessRuleStore:
    store = world.broker.access_rules
    assert store is not None
    return store


@asynccontextmanager
async def access_world(
    settings: Mapping[str, str] | None = None, way: Way | None = None
) -> AsyncIterator[World]:
    """A broker that lets nobody but root do anything."""
    async with broker_world({**SETTINGS, **(settings or {})}, way=way) as world:
        yield world
