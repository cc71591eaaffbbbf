"""Access rules: how long many take to load, what they take in memory, and what a decision costs.

    bin/python bench/access_rules.py [RULES]

Rules are loaded from a store in memory, as the embedded one is: ten for each of RULES / 10 topics
by default, then one for each of RULES. A decision is asked for as Produce does, from the
connection's cache, and anew, as after a change.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Callable

from moldau.broker.access.audit import Audit
from moldau.broker.access.authorizer import AclAuthorizer, AllowEveryone
from moldau.broker.access.rule_store import AccessRuleStore
from moldau.broker.context import Client, Context
from moldau.coordination.acl_nodes import AclNodes
from moldau.coordination.layout.acls import AclEntry, ResourcePattern, encode_acls
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create, Tree
from moldau.runtime.clock import SystemClock
from moldau.runtime.garbage import owned_collector
from moldau.security.acls import Operation, ResourceType
from moldau.security.authorization import AccessRules
from moldau.security.principals import Principal

_TURNS = 200_000


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for per_topic in (10, 1):
        with owned_collector():  # as in a broker that starts
            asyncio.run(_load(count, per_topic))
    _decide(count)


async def _load(count: int, per_topic: int) -> None:
    tree = await _filled(count, per_topic)
    before_mb, began_s = _resident_mb(), time.process_time()
    store = AccessRuleStore(tree, AccessRules(), SystemClock())
    await store.open()
    took_s = time.process_time() - began_s
    grown_mb = _resident_mb() - before_mb
    shape = f"{count} rules, {per_topic} for each topic"
    print(f"{shape}: loaded in {took_s:.2f} s of processor time, {grown_mb:.0f} MB more")
    assert len(store.rules) == count


async def _filled(count: int, per_topic: int) -> Tree:
    tree = MemoryEnsemble(SystemClock()).connect()
    await AclNodes(tree).create_roots()
    for topic in range(count // per_topic):
        entries = [
            AclEntry(f"User:{topic % 1_000}-{number}", "Allow", "Read", "*")
            for number in range(per_topic)
        ]
        pattern = ResourcePattern("Topic", f"topic-{topic:06}", topic % 10 == 0)
        await tree.create(Create(pattern.path, encode_acls(entries)))
    return tree


def _decide(count: int) -> None:
    tree = asyncio.run(_filled(count, 10))
    rules = AccessRules()
    asyncio.run(AccessRuleStore(tree, rules, SystemClock()).open())
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092, principal=Principal("User", "1-1"))
    context = Context(9, "c", client, api_name="Produce")
    authorizer, everyone = AclAuthorizer(rules, Audit()), AllowEveryone()
    read, topic = Operation.READ, ResourceType.TOPIC

    def known() -> None:
        authorizer.may(context, read, topic, "topic-000001")

    def anew() -> None:
        client.rights = None
        authorizer.may(context, read, topic, "topic-000001")

    def nobody_asks() -> None:
        _ = everyone.is_enforcing

    for name, work in (("known", known), ("anew", anew), ("no authorizer", nobody_asks)):
        print(f"a decision, {name}: {_ns(work)} ns")


def _ns(work: Callable[[], None]) -> int:
    began_ns = time.process_time_ns()
    for _ in range(_TURNS):
        work()
    return (time.process_time_ns() - began_ns) // _TURNS


def _resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
