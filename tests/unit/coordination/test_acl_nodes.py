"""The nodes of access rules."""

import asyncio
from collections.abc import Sequence

import pytest

from moldau.coordination.acl_nodes import AclNodes
from moldau.coordination.layout.acls import AclEntry, ResourcePattern
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import BadVersion, Create
from unit.broker.world import SettableClock

BOB = AclEntry("User:bob", "Allow", "Describe", "*")
EVE = AclEntry("User:eve", "Deny", "All", "10.0.0.9")
SECRET = ResourcePattern("Topic", "secret")
OPEN = ResourcePattern("Topic", "open-", is_prefix=True)


async def made() -> tuple[MemoryTree, AclNodes]:
    tree = MemoryEnsemble(SettableClock()).connect()
    nodes = AclNodes(tree)
    await nodes.create_roots()
    await nodes.create_roots()
    return tree, nodes


async def test_rules_are_written_as_kafka_writes_them() -> None:
    tree, nodes = await made()
    await nodes.change(SECRET, lambda before: [*before, BOB])
    assert (await tree.get("/kafka-acl/Topic/secret")).data == (
        b'{"acls":[{"principal":"User:bob","permissionType":"Allow","host":"*",'
        b'"operation":"Describe"}],"version":1}'
    )
    (told,) = await tree.children("/kafka-acl-changes")
    assert told == "acl_changes_0000000000"
    assert (await tree.get(f"/kafka-acl-changes/{told}")).data == b"TOPIC:secret"


async def test_prefixes_have_a_tree_and_notifications_of_their_own() -> None:
    tree, nodes = await made()
    await nodes.change(OPEN, lambda before: [*before, BOB])
    assert await tree.exists("/kafka-acl-extended/prefixed/Topic/open-") is not None
    (told,) = await tree.children("/kafka-acl-extended-changes")
    assert (await tree.get(f"/kafka-acl-extended-changes/{told}")).data == (
        b'{"version":1,"resourceType":"TOPIC","name":"open-","patternType":"PREFIXED"}'
    )


async def test_nothing_is_announced_if_nothing_changes() -> None:
    tree, nodes = await made()
    for _ in range(2):
        await nodes.change(SECRET, lambda before: [*before, BOB])
    assert await nodes.read(SECRET) == [BOB]
    assert len(await tree.children("/kafka-acl-changes")) == 1


async def test_the_last_rule_takes_its_node_with_it() -> None:
    tree, nodes = await made()
    await nodes.change(SECRET, lambda before: [*before, BOB])
    await nodes.change(SECRET, lambda _: [])
    assert await tree.exists(SECRET.path) is None
    assert await nodes.read(SECRET) == []
    assert len(await tree.children("/kafka-acl-changes")) == 2


async def test_who_changes_rules_at_the_same_time_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("moldau.coordination.acl_nodes._RETRY_S", 0)
    _, nodes = await made()
    entries = [AclEntry(f"User:{number}", "Allow", "Read", "*") for number in range(5)]

    def append(entry: AclEntry) -> "asyncio.Future[None]":
        return asyncio.ensure_future(nodes.change(SECRET, lambda before: [*before, entry]))

    await asyncio.gather(*map(append, entries))
    assert set(await nodes.read(SECRET)) == set(entries)


async def test_one_who_is_always_too_late_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.coordination.acl_nodes._RETRY_S", 0)
    tree, nodes = await made()
    await nodes.change(SECRET, lambda before: [*before, BOB])
    (node, tries) = (await tree.get(SECRET.path), [])

    def change(before: list[AclEntry]) -> Sequence[AclEntry]:
        tries.append(before)
        return [EVE]

    async def too_late(_operations: object) -> list[object]:
        raise BadVersion(SECRET.path)

    monkeypatch.setattr(tree, "multi", too_late)
    with pytest.raises(BadVersion):
        await nodes.change(SECRET, change)
    assert len(tries) == 10
    assert (await tree.get(SECRET.path)).data == node.data


@pytest.mark.parametrize(
    "rubbish", [b"{", b'{"version":2,"acls":[]}', b'{"version":1,"acls":[{}]}', b"\xff", b"[]"]
)
async def test_rubbish_is_found_out(rubbish: bytes, caplog: pytest.LogCaptureFixture) -> None:
    tree, nodes = await made()
    await tree.create(Create(SECRET.path, rubbish))
    with pytest.raises(NodeDataError):
        await nodes.read(SECRET)
    assert await nodes.read_all() == {SECRET: None}
    assert "Denying all access, unreadable access rules in '/kafka-acl/Topic/secret'" in caplog.text


async def test_all_are_read_and_types_that_nobody_knows_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tree, nodes = await made()
    await nodes.change(SECRET, lambda _: [BOB])
    await nodes.change(OPEN, lambda _: [EVE])
    await tree.create(Create("/kafka-acl/Galaxy"))
    assert await nodes.read_all() == {SECRET: [BOB], OPEN: [EVE]}
    assert "unknown type 'Galaxy'" in caplog.text
