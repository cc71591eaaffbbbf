"""Topics as nodes of ZooKeeper: what `kafka-topics.sh --zookeeper` does."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.cli.terminal.patterns import read_pattern
from moldau.cli.znodes.configs import ZooKeeperConfigs
from moldau.cli.znodes.session import zookeeper_session
from moldau.client.admin.topics import NewTopic
from moldau.controller.assignment import BrokerCandidate, Start, assign_replicas
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.partitions import delete_topic_path
from moldau.coordination.layout.topics import NO_LEADER, PartitionAssignment, TopicAssignment
from moldau.coordination.tree import Create, Delete, NodeExists, NoNode, SetData, Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition, format_uuid
from moldau.runtime.random import Random, SystemRandom

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_GROWTH = (
    "WARNING: If partitions are increased for a topic that has a key, "
    "the partition logic or ordering of the messages will be affected"
)

_USE_CONFIGS = (
    "WARNING: Altering topic configuration from this script has been deprecated and may be "
    "removed in future releases.\n"
    "         Going forward, please use kafka-configs.sh for this functionality"
)
_FILTERS = ("topics-with-overrides", "under-replicated-partitions", "unavailable-partitions")


def run_with_zookeeper(given: Given, action: str, new_topic: NewTopic | None) -> int:
    """Do what the options say; returns the exit code."""

    async def run() -> None:
        async with zookeeper_session(given.text("zookeeper")) as tree:
            topics = ZooKeeperTopics(tree)
            if action == "create":
                assert new_topic is not None, "somebody says what to create"
                await topics.create(new_topic, if_not_exists="if-not-exists" in given)
                return
            await _act(topics, action, given)

    asyncio.run(run())
    return 0


async def _act(topics: "ZooKeeperTopics", action: str, given: Given) -> None:
    names = await topics.names(given.text("topic"))
    if action == "list":
        print("\n".join(await topics.listed(names)), end="\n" * bool(names))
        return
    if not names and "topic" in given and action != "describe" and "if-exists" not in given:
        topic, servers = given.text("topic"), given.text("zookeeper")
        reason = f"Topic {topic} does not exist on ZK path {servers}"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    for name in names:
        if action == "describe":
            for line in await topics.described(name, [each for each in _FILTERS if each in given]):
                print(line)
        elif action == "delete":
            await topics.delete(name)
        else:
            await topics.alter(name, given)


class ZooKeeperTopics:
    """Reads and writes the nodes of topics; the controller's watches see what is written."""

    def __init__(self, tree: Tree, random: Random | None = None) -> None:
        self._tree = tree
        self._random = random or SystemRandom()
        self._configs = ZooKeeperConfigs(tree)

    async def names(self, pattern: str = "") -> list[str]:
        """The topics there are, of this pattern if one is given."""
        try:
            found = sorted(await self._tree.children(topic_nodes.PATH))
        except NoNode:
            raise CommandFailed("there are no nodes of Kafka here: has a broker started?") from None
        wanted = read_pattern(pattern or ".*")
        return [name for name in found if wanted.fullmatch(name)]

    async def listed(self, names: Sequence[str]) -> list[str]:
        """Names, with a note on those that are being deleted."""
        return [
            f"{name} - marked for deletion"
            if await self._tree.exists(delete_topic_path(name))
            else name
            for name in names
        ]

    async def create(self, topic: NewTopic, *, if_not_exists: bool = False) -> None:
        """Write a topic and its settings."""
        if not _NAME.fullmatch(topic.name) or topic.name in (".", ".."):
            reason = (
                f'Topic name "{topic.name}" is illegal, it contains a character other than '
                "ASCII alphanumerics, '.', '_' and '-'"
            )
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
        replicas = dict(topic.replicas) or await self._placed(topic)
        assignment = TopicAssignment(
            partitions={
                number: PartitionAssignment(replicas=tuple(brokers))
                for number, brokers in replicas.items()
            },
            topic_id=format_uuid(self._random.uuid()),
        )
        settings = {name: value or "" for name, value in topic.configs.items()}
        config_path = ConfigEntity.topic(topic.name).path
        nodes = [
            Create(config_path, encode_config(settings)),
            Create(topic_nodes.topic_path(topic.name), assignment.encode()),
        ]
        # Settings may be left behind by a topic that was deleted.
        has_left = await self._tree.exists(config_path) and topic.name not in await self.names()
        try:
            await self._tree.multi([Delete(config_path), *nodes] if has_left else nodes)
        except NodeExists:
            if if_not_exists:
                return
            reason = f"Topic '{topic.name}' already exists."
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, reason) from None
        print(f'Created topic "{topic.name}".')

    async def described(self, name: str, filters: Sequence[str] = ()) -> list[str]:
        """A topic with its partitions, or what filters leave of it, as Kafka before 2.2."""
        assignment = topic_nodes.decode_topic(
            (await self._tree.get(topic_nodes.topic_path(name))).data
        )
        settings = await self._configs.read(ConfigEntity.topic(name))
        configs = ",".join(f"{key}={value}" for key, value in settings.items())
        factor = max((len(each.replicas) for each in assignment.partitions.values()), default=0)
        head = f"Topic:{name}\tPartitionCount:{len(assignment.partitions)}\t"
        title = f"{head}ReplicationFactor:{factor}\tConfigs:{configs}"
        if "topics-with-overrides" in filters:
            return [title] if settings else []
        lines = [] if filters else [title]
        for number, each in sorted(assignment.partitions.items()):
            leader, isr = await self._leader(TopicPartition(name, number))
            is_wanted = (
                not filters
                or ("under-replicated-partitions" in filters and len(isr) < len(each.replicas))
                or ("unavailable-partitions" in filters and leader == "none")
            )
            if not is_wanted:
                continue
            replicas, in_sync = (",".join(map(str, brokers)) for brokers in (each.replicas, isr))
            lines.append(
                f"\tTopic: {name}\tPartition: {number}\tLeader: {leader}\t"
                f"Replicas: {replicas}\tIsr: {in_sync}"
            )
        return lines

    async def delete(self, name: str) -> None:
        """Mark a topic for deletion; the controller does the rest."""
        try:
            await self._tree.create(Create(delete_topic_path(name)))
        except NodeExists:
            print(f"Topic {name} is already marked for deletion.")
            return
        print(f"Topic {name} is marked for deletion.")
        print("Note: This will have no impact if delete.topic.enable is not set to true.")

    async def alter(self, name: str, given: Given) -> None:
        """Change settings, and let the topic have more partitions."""
        if "config" in given or "delete-config" in given:
            changed = dict(pair.split("=", 1) for pair in given.texts("config"))
            print(_USE_CONFIGS)
            entity = ConfigEntity.topic(name)
            await self._configs.change(entity, changed, given.texts("delete-config"))
            print(f'Updated config for topic "{name}".')
        if "partitions" in given:
            print(_GROWTH)
            await self._grow(name, given.number("partitions"))
            print("Adding partitions succeeded!")

    async def _grow(self, name: str, total: int) -> None:
        path = topic_nodes.topic_path(name)
        node = await self._tree.get(path)
        assignment = topic_nodes.decode_topic(node.data)
        count = len(assignment.partitions)
        if total <= count:
            reason = f"The number of partitions for a topic can only be increased. Topic {name} "
            reason += f"currently has {count} partitions, {total} would not be an increase."
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, reason)
        factor = len(assignment.partitions[0].replicas)
        wanted = NewTopic(name, total - count, factor)
        added = {
            number: PartitionAssignment(replicas=tuple(brokers))
            for number, brokers in (await self._placed(wanted, count)).items()
        }
        grown = replace(assignment, partitions={**assignment.partitions, **added})
        await self._tree.multi([SetData(path, grown.encode(), node.stat.version)])

    async def _placed(
        self, topic: NewTopic, first_partition: int = 0
    ) -> Mapping[int, Sequence[int]]:
        ids = sorted(map(int, await self._tree.children(broker_nodes.IDS_PATH)))
        brokers = [
            BrokerCandidate(each, broker_nodes.decode_broker(node.data).rack)
            for each in ids
            for node in [await self._tree.get(broker_nodes.id_path(each))]
        ]
        count = max(len(brokers), 1)
        return assign_replicas(
            brokers,
            partition_count=topic.partitions,
            replication_factor=topic.replication_factor,
            start=Start(self._random.below(count), self._random.below(count), first_partition),
        )

    async def _leader(self, partition: TopicPartition) -> tuple[int | str, tuple[int, ...]]:
        try:
            node = await self._tree.get(topic_nodes.state_path(partition))
        except NoNode:
            return "none", ()
        state = topic_nodes.decode_state(node.data)
        return "none" if state.leader == NO_LEADER else state.leader, state.isr
