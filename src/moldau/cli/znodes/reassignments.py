"""Moves of partitions as a node of ZooKeeper: `kafka-reassign-partitions.sh` before 2.6."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.move_plan import as_json, brokers_of, propose, read_plan
from moldau.cli.terminal.options import Given
from moldau.cli.terminal.partition_file import read_topics
from moldau.cli.znodes.configs import ZooKeeperConfigs
from moldau.cli.znodes.session import zookeeper_session
from moldau.client.admin.throttles import RATES, THROTTLED_REPLICAS, throttled_replicas
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.layout.partitions import (
    REASSIGNMENT_PATH,
    decode_reassignment,
    encode_reassignment,
)
from moldau.coordination.tree import Create, NodeExists, NoNode, Tree
from moldau.model import TopicPartition
from moldau.runtime.random import SystemRandom

Plan = Mapping[TopicPartition, Sequence[int]]


async def move_with_zookeeper(given: Given, action: str) -> None:
    """Do what the options say, and print it as Kafka 2.1 does."""
    if action not in _WORK:
        raise CommandFailed(f"--{action} is not there with --zookeeper: use --bootstrap-server")
    async with zookeeper_session(given.text("zookeeper")) as tree:
        await _WORK[action](ZooKeeperReassignments(tree), given)


async def _generate(moves: "ZooKeeperReassignments", given: Given) -> None:
    given.require("topics-to-move-json-file", "broker-list")
    topics = read_topics(given.text("topics-to-move-json-file"))
    current = await moves.assignments(topics)
    proposed = propose(current, brokers_of(given, await moves.racks()), SystemRandom())
    print(f"Current partition replica assignment\n{as_json(current)}\n")
    print(f"Proposed partition reassignment configuration\n{as_json(proposed)}")


async def _execute(moves: "ZooKeeperReassignments", given: Given) -> None:
    plan, directories = read_plan(given)
    if directories:
        raise CommandFailed("directories can be named with --bootstrap-server alone")
    before = await moves.assignments(dict.fromkeys(each.topic for each in plan))
    missing = [str(each) for each in plan if each not in before]
    if missing:
        raise CommandFailed(
            "Partitions reassignment failed due to The proposed assignment contains non-existent "
            f"partitions: {', '.join(missing)}"
        )
    if await moves.under_way():
        raise CommandFailed("There is an existing assignment running.")
    print(f"Current partition replica assignment\n\n{as_json(before)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    if "throttle" in given:
        rate = given.number("throttle")
        print(_WARNING)
        await moves.throttle({each: before[each] for each in plan}, plan, rate)
        print(f"The inter-broker throttle limit was set to {rate} B/s")
    await moves.begin(plan)
    print("Successfully started reassignment of partitions.")


async def _verify(moves: "ZooKeeperReassignments", given: Given) -> None:
    plan, _ = read_plan(given)
    topics = dict.fromkeys(each.topic for each in plan)
    under_way = await moves.under_way()
    current = await moves.assignments(topics)
    print("Status of partition reassignment: ")
    for partition, replicas in sorted(plan.items()):
        state = "completed successfully" if current.get(partition) == replicas else "failed"
        if partition in under_way:
            state = "is still in progress"
        print(f"Reassignment of partition {partition} {state}")
    if not under_way and await moves.remove_throttle(topics):
        print("Throttle was removed.")


class ZooKeeperReassignments:
    """Reads where partitions are, and writes where they are to be; the controller moves them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._configs = ZooKeeperConfigs(tree)

    async def assignments(self, topics: Iterable[str]) -> dict[TopicPartition, list[int]]:
        """The brokers of every partition of these topics, as far as there are such topics."""
        found: dict[TopicPartition, list[int]] = {}
        for topic in topics:
            try:
                node = await self._tree.get(topic_nodes.topic_path(topic))
            except NoNode:
                continue
            for number, each in topic_nodes.decode_topic(node.data).partitions.items():
                found[TopicPartition(topic, number)] = list(each.replicas)
        return found

    async def racks(self) -> dict[int, str | None]:
        """The racks of the brokers that there are."""
        ids = sorted(map(int, await self._tree.children(broker_nodes.IDS_PATH)))
        return {
            each: broker_nodes.decode_broker(node.data).rack
            for each in ids
            for node in [await self._tree.get(broker_nodes.id_path(each))]
        }

    async def begin(self, plan: Plan) -> None:
        """Let the controller move partitions."""
        try:
            await self._tree.create(Create(REASSIGNMENT_PATH, encode_reassignment(plan)))
        except NodeExists:
            raise CommandFailed("There is an existing assignment running.") from None

    async def under_way(self) -> Plan:
        """What the controller has not finished."""
        try:
            return decode_reassignment((await self._tree.get(REASSIGNMENT_PATH)).data)
        except NoNode:
            return {}

    async def throttle(self, before: Plan, after: Plan, rate: int) -> None:
        """Let brokers copy at most so many bytes per second for these partitions."""
        brokers = {broker for plan in (before, after) for each in plan.values() for broker in each}
        for broker in sorted(brokers):
            entity = ConfigEntity.broker(broker)
            await self._configs.change(entity, dict.fromkeys(RATES, str(rate)))
        for topic in dict.fromkeys(each.topic for each in after):
            limits = throttled_replicas(topic, before, after)
            await self._configs.change(ConfigEntity.topic(topic), limits)

    async def remove_throttle(self, topics: Iterable[str]) -> bool:
        """Take such limits away; False if there were none."""
        entities = [ConfigEntity.broker(each) for each in await self.racks()]
        removed = [await self._configs.change(each, {}, RATES) for each in entities]
        for topic in topics:
            entity = ConfigEntity.topic(topic)
            removed.append(await self._configs.change(entity, {}, THROTTLED_REPLICAS))
        return any(removed)


_WARNING = (
    "Warning: You must run Verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed. You can also alter the throttle by rerunning the Execute command "
    "passing a new value."
)
_WORK: dict[str, Callable[[ZooKeeperReassignments, Given], Awaitable[None]]] = {
    "generate": _generate,
    "execute": _execute,
    "verify": _verify,
}
