"""Access rules, kept as they are in the tree."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from moldau.broker.access.rule_store import AccessRuleStore, require_rules
from moldau.coordination.layout.acls import AclEntry, encode_acls
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create, SessionLost
from moldau.errors import ErrorCode, KafkaError
from moldau.security.acls import (
    Acl,
    AclFilter,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.authorization import AccessRules, Asker
from moldau.security.principals import Principal
from unit.broker.world import SettableClock

TOPIC = ResourceType.TOPIC
T = AclPattern(TOPIC, "t")
PREFIX = AclPattern(TOPIC, "o", PatternType.PREFIXED)
ALICE = Asker.of(Principal("User", "alice"), "10.0.0.9")
NODE = "/kafka-acl/Topic/t"


def rule(
    operation: Operation = Operation.READ, principal: str = "User:alice", name: str = "t"
) -> Acl:
    return Acl(resource_type=TOPIC, resource_name=name, principal=principal, operation=operation)


def store_on(tree: MemoryTree) -> AccessRuleStore:
    return AccessRuleStore(tree, AccessRules())


@asynccontextmanager
async def following(store: AccessRuleStore) -> AsyncIterator[None]:
    """A session of a store."""
    task = asyncio.create_task(store.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until_changed(store: AccessRuleStore, before: object) -> None:
    for _ in range(1_000):
        if store.rules.version is not before:
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")


def may_read(store: AccessRuleStore, name: str = "t") -> bool:
    return store.rules.allow(ALICE, Operation.READ, TOPIC, name)


async def test_what_was_there_before_is_loaded() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    first, second = store_on(ensemble.connect()), store_on(ensemble.connect())
    await first.open()
    await first.add(T, [rule()])
    assert may_read(first)
    await second.open()
    assert may_read(second)


async def test_a_change_by_another_is_heard_of() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    ours, theirs = store_on(ensemble.connect()), store_on(ensemble.connect())
    await ours.open()
    await theirs.open()
    async with following(ours):
        for pattern, name in ((T, "t"), (PREFIX, "orders")):
            before = ours.rules.version
            acl = rule(name=pattern.name)
            await theirs.add(pattern, [acl])
            await until_changed(ours, before)
            assert may_read(ours, name)
            before = ours.rules.version
            await theirs.remove(pattern, lambda _: True)
            await until_changed(ours, before)
            assert not may_read(ours, name)


async def test_what_changes_between_loading_and_watching_is_not_missed() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    ours, theirs = store_on(ensemble.connect()), store_on(ensemble.connect())
    await ours.open()
    await theirs.open()
    await theirs.add(T, [rule()])
    before = ours.rules.version
    async with following(ours):
        await until_changed(ours, before)
    assert may_read(ours)


async def test_a_new_session_begins_with_all_rules() -> None:
    """However long the old one has been gone: notifications do not last."""
    ensemble = MemoryEnsemble(SettableClock())
    tree = ensemble.connect()
    ours, theirs = store_on(tree), store_on(ensemble.connect())
    await ours.open()
    await theirs.open()
    async with following(ours):
        await asyncio.sleep(0)
    await theirs.add(T, [rule()])
    for name in await tree.children("/kafka-acl-changes"):
        await tree.delete(f"/kafka-acl-changes/{name}")
    before = ours.rules.version
    async with following(ours):
        await until_changed(ours, before)
    assert may_read(ours)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"{",
        b'{"version":9,"acls":[]}',
        encode_acls([AclEntry("User:alice", "Maybe", "Read", "*")]),
        encode_acls([AclEntry("User:alice", "Allow", "Levitate", "*")]),
        encode_acls([AclEntry("alice", "Allow", "Read", "*")]),
    ],
)
async def test_rubbish_in_a_node_allows_nobody_anything(rubbish: bytes) -> None:
    ensemble = MemoryEnsemble(SettableClock())
    tree = ensemble.connect()
    store = store_on(tree)
    await store.open()
    await store.add(T, [rule()])
    await store.add(AclPattern(TOPIC, "*"), [rule(name="*")])
    await tree.set(NODE, rubbish)
    other = store_on(ensemble.connect())
    await other.open()
    assert not may_read(other)
    assert may_read(other, "u")
    with pytest.raises(KafkaError) as refused:
        await other.add(T, [rule(Operation.WRITE), rule()])
    assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert (await tree.get(NODE)).data == rubbish


async def test_rubbish_in_a_notification_has_everything_read_again() -> None:
    ensemble = MemoryEnsemble(SettableClock())
    tree = ensemble.connect()
    ours, theirs = store_on(tree), store_on(ensemble.connect())
    await ours.open()
    await theirs.open()
    async with following(ours):
        await asyncio.sleep(0)
        await tree.create(Create(NODE, b""))
        await tree.set(NODE, encode_acls([AclEntry("User:alice", "Allow", "Read", "*")]))
        before = ours.rules.version
        await tree.create(Create("/kafka-acl-changes/acl_changes_", b"??", is_sequential=True))
        await until_changed(ours, before)
        assert may_read(ours)


async def test_only_what_is_meant_is_removed_and_told() -> None:
    """CVE-2024-27309 as well: one of three goes, and a denial among the others holds."""
    store = store_on(MemoryEnsemble(SettableClock()).connect())
    await store.open()
    denial = Acl(
        resource_type=TOPIC,
        resource_name="t",
        principal="User:bob",
        operation=Operation.READ,
        permission=Permission.DENY,
    )
    await store.add(T, [rule(), denial, rule(principal="User:*")])
    wanted = AclFilter(principal="User:alice")
    assert await store.remove(T, wanted.matches) == [rule()]
    assert await store.remove(T, wanted.matches) == []
    bob = Asker.of(Principal("User", "bob"), "10.0.0.9")
    assert not store.rules.allow(bob, Operation.READ, TOPIC, "t")
    assert may_read(store)
    assert set(store.rules.matching(AclFilter())) == {denial, rule(principal="User:*")}


async def test_a_lost_session_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.broker.access.rule_store._RETRY_S", 0)
    tree = MemoryEnsemble(SettableClock()).connect()
    store = store_on(tree)
    await store.open()
    before, children, failures = store.rules.version, tree.children, [SessionLost(), SessionLost()]

    async def failing(path: str, **watch: object) -> list[str]:
        if failures:
            raise failures.pop()
        return await children(path, **watch)  # type: ignore[arg-type]

    monkeypatch.setattr(tree, "children", failing)
    async with following(store):
        await until_changed(store, before)


def test_without_an_authorizer_there_are_no_rules() -> None:
    with pytest.raises(KafkaError) as refused:
        require_rules(None, "none")
    assert refused.value.code is ErrorCode.SECURITY_DISABLED
