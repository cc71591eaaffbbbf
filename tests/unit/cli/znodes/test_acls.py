"""Access rules as nodes of ZooKeeper."""

from moldau.cli.znodes.acls import ZooKeeperAcls, shown
from moldau.coordination.memory import MemoryTree
from moldau.security.acls import (
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

TOPIC = (ResourceType.TOPIC, "orders", PatternType.LITERAL)
PREFIX = (ResourceType.TOPIC, "ord", PatternType.PREFIXED)


def rule(operation: Operation, *, is_prefix: bool = False) -> Acl:
    kind, name, pattern_type = PREFIX if is_prefix else TOPIC
    return Acl(
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern_type,
        principal="User:bob",
        operation=operation,
        permission=Permission.DENY if is_prefix else Permission.ALLOW,
    )


async def test_rules_are_added_once_and_brokers_told(tree: MemoryTree) -> None:
    acls = ZooKeeperAcls(tree)
    assert await acls.matching([AclFilter()]) == {}
    wanted = [rule(Operation.READ), rule(Operation.IDEMPOTENT_WRITE)]
    for _ in range(2):
        await acls.add(TOPIC, wanted)
    await acls.add(PREFIX, [rule(Operation.ALL, is_prefix=True)])
    assert (await tree.get("/kafka-acl/Topic/orders")).data == (
        b'{"acls":['
        b'{"principal":"User:bob","permissionType":"Allow","host":"*","operation":"Read"},'
        b'{"principal":"User:bob","permissionType":"Allow","host":"*",'
        b'"operation":"IdempotentWrite"}],"version":1}'
    )
    assert await tree.exists("/kafka-acl-extended/prefixed/Topic/ord")
    assert len(await tree.children("/kafka-acl-changes")) == 1
    assert len(await tree.children("/kafka-acl-extended-changes")) == 1
    found = await acls.matching([AclFilter()])
    assert found == {TOPIC: wanted, PREFIX: [rule(Operation.ALL, is_prefix=True)]}


async def test_rules_are_removed_and_the_node_with_the_last_one(tree: MemoryTree) -> None:
    acls = ZooKeeperAcls(tree)
    await acls.add(TOPIC, [rule(Operation.READ), rule(Operation.WRITE), rule(Operation.ALTER)])
    await acls.remove(TOPIC, [rule(Operation.WRITE)])
    left = await acls.matching([AclFilter()])
    assert left == {TOPIC: [rule(Operation.READ), rule(Operation.ALTER)]}
    await acls.remove(TOPIC, None)
    assert not await tree.exists("/kafka-acl/Topic/orders")
    await acls.remove(TOPIC, None)
    assert len(await tree.children("/kafka-acl-changes")) == 3


def test_a_pattern_is_shown_as_2_x_did() -> None:
    assert shown(PREFIX) == "Topic:PREFIXED:ord"
    assert shown((ResourceType.TRANSACTIONAL_ID, "x", PatternType.LITERAL)) == (
        "TransactionalId:LITERAL:x"
    )
