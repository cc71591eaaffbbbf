"""Topics as entries of the tree: created, grown and marked for deletion by any broker.

What is written here is acted on by the controller, whose watch fires; whoever needs the
result waits for it to arrive in the metadata.
"""

from collections.abc import Callable, Mapping

from moldau.controller.assignment import Candidate, Start, assign_replicas
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.tree import Create, NodeExists, NoNode, Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.cache import MetadataCache
from moldau.model import format_uuid
from moldau.runtime.waiters import Waiters

NAME_LENGTH_MAX = 249
_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")

Replicas = Mapping[int, tuple[int, ...]]


class Topics:
    """Writes topics into the tree."""

    def __init__(
        self,
        tree: Tree,
        metadata: MetadataCache,
        waiters: Waiters,
        *,
        new_uuid: Callable[[], bytes],
        draw: Callable[[int], int],
    ) -> None:
        """`draw(n)` is a random number in [0, n)."""
        self._tree = tree
        self._metadata = metadata
        self._waiters = waiters
        self._new_uuid = new_uuid
        self._draw = draw

    def place(
        self, partition_count: int, replication_factor: int, *, first_partition: int = 0
    ) -> Replicas:
        """Choose brokers for the replicas of new partitions."""
        nodes = self._metadata.image.brokers.values()
        brokers = [Candidate(node.id, node.rack) for node in nodes]
        count = max(len(brokers), 1)
        return assign_replicas(
            brokers,
            partition_count=partition_count,
            replication_factor=replication_factor,
            start=Start(self._draw(count), self._draw(count), first_partition),
        )

    def require_new(self, name: str) -> None:
        """Raise unless a topic of this name can be created."""
        check_name(name)
        topics = self._metadata.image.topics
        if name in topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        # In metric names dots become underscores.
        collisions = [one for one in topics if one.replace(".", "_") == name.replace(".", "_")]
        if collisions:
            message = f"Topic '{name}' collides with existing topics: {', '.join(collisions)}"
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)

    async def create(self, name: str, replicas: Replicas, overrides: Mapping[str, str]) -> bytes:
        """Write a topic and its settings; returns its id."""
        self.require_new(name)
        topic_id = self._new_uuid()
        assignment = TopicAssignment(
            partitions={
                number: PartitionAssignment(replicas=one) for number, one in replicas.items()
            },
            topic_id=format_uuid(topic_id),
        )
        config_path = ConfigEntity.topic(name).path
        # A deleted topic's settings may be left behind: they must not become the new one's.
        if await self._tree.exists(config_path) is not None:
            await self._tree.delete(config_path)
        try:
            await self._tree.multi(
                [
                    Create(config_path, encode_config(overrides)),
                    Create(topic_nodes.topic_path(name), assignment.encode()),
                ]
            )
        except NodeExists as error:
            message = f"Topic '{name}' already exists."
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, message) from error
        return topic_id

    async def add_partitions(self, name: str, added: Replicas) -> None:
        """Give a topic more partitions."""
        path = topic_nodes.topic_path(name)
        try:
            node = await self._tree.get(path)
        except NoNode as error:
            raise _unknown(name) from error
        known = topic_nodes.decode_topic(node.data)
        partitions = {
            **known.partitions,
            **{number: PartitionAssignment(replicas=one) for number, one in added.items()},
        }
        grown = TopicAssignment(partitions=partitions, topic_id=known.topic_id)
        await self._tree.set(path, grown.encode(), version=node.stat.version)

    async def delete(self, name: str) -> None:
        """Mark a topic for deletion."""
        if name not in self._metadata.image.topics:
            raise _unknown(name)
        try:
            await self._tree.create(Create(partition_lists.delete_topic_path(name)))
        except NodeExists as error:
            message = f"topic {name} is already marked for deletion"
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, message) from error

    async def until_led(self, name: str, partition_count: int, *, timeout_s: float) -> bool:
        """Wait until all partitions have a leader here; says whether they have in time."""

        def is_led() -> bool:
            topic = self._metadata.image.topics.get(name)
            return (
                topic is not None
                and len(topic.partitions) >= partition_count
                and all(one.leader >= 0 for one in topic.partitions.values())
            )

        return await self._waiters.until(is_led, keys=[name], timeout_s=timeout_s)

    async def until_gone(self, name: str, *, timeout_s: float) -> bool:
        """Wait until a topic is not known here any more; says whether it is gone in time."""
        return await self._waiters.until(
            lambda: name not in self._metadata.image.topics, keys=[name], timeout_s=timeout_s
        )


def check_name(name: str) -> None:
    """Raise unless `name` is a legal name for a topic."""
    problem = None
    if not name:
        problem = "the empty string"
    elif name in (".", ".."):
        problem = "'.' and '..' are not allowed"
    elif len(name) > NAME_LENGTH_MAX:
        problem = f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    elif not _NAME_CHARACTERS.issuperset(name):
        problem = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    if problem:
        message = f"Topic name is invalid: {problem}"
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)


def _unknown(name: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
