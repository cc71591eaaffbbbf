"""Topics as entries of the tree: created, grown and marked for deletion by any broker.

What is written here is acted on by the controller, whose watch fires; a caller that
needs the result waits for it to arrive in the metadata.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping

from moldau.controller.assignment import BrokerCandidate, Start, assign_replicas
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.tree import Create, Delete, NodeExists, NoNode, Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.cache import MetadataCache
from moldau.metadata.image import ClusterImage, TopicImage
from moldau.model import format_uuid
from moldau.protocol.primitives import NO_UUID
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

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
        """`draw(n)` is a random number in [0, n).

        `new_uuid` gives NO_UUID where topics have no ids, for brokers that know none.
        """
        self._tree = tree
        self._metadata = metadata
        self._waiters = waiters
        self.new_id = new_uuid
        self._draw = draw
        self._metric_names: tuple[ClusterImage, Mapping[str, str]] = (ClusterImage(), {})

    def place(
        self, partition_count: int, replication_factor: int, *, start: Start | None = None
    ) -> Replicas:
        """Choose brokers for the replicas of new partitions; without a start at random."""
        nodes = self._metadata.image.brokers.values()
        brokers = [BrokerCandidate(node.id, node.rack) for node in nodes]
        count = max(len(brokers), 1)
        return assign_replicas(
            brokers,
            partition_count=partition_count,
            replication_factor=replication_factor,
            start=start or Start(self._draw(count), self._draw(count)),
        )

    def place_more(self, added_count: int, known: TopicAssignment) -> Replicas:
        """Choose brokers for more partitions of a topic, on from where it began, as Kafka does."""
        first = known.partitions[0].replicas
        ids = sorted(self._metadata.image.brokers)
        index = next((at for at, one in enumerate(ids) if one >= first[0]), 0)
        start = Start(index, index, len(known.partitions))
        return self.place(added_count, len(first), start=start)

    def require_new(self, name: str) -> None:
        """Raise unless a topic of this name can be created."""
        check_name(name)
        image = self._metadata.image
        if name in image.topics:
            raise _exists(name)
        if metric_name(name) != name or "_" in name:
            collision = self._names_by_metric_name(image).get(metric_name(name))
            if collision is not None:
                message = f"Topic '{name}' collides with existing topics: {collision}"
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)

    def _names_by_metric_name(self, image: ClusterImage) -> Mapping[str, str]:
        # Made once for all topics of a request: there may be thousands, here and there.
        if self._metric_names[0] is not image:
            self._metric_names = (image, {metric_name(name): name for name in image.topics})
        return self._metric_names[1]

    async def create(
        self, name: str, replicas: Replicas, overrides: Mapping[str, str], *, cause: str = ""
    ) -> bytes:
        """Write a topic and its settings; returns its id. `cause` is for the log."""
        self.require_new(name)
        topic_id = self.new_id()
        assignment = TopicAssignment(
            partitions={
                number: PartitionAssignment(replicas=one) for number, one in replicas.items()
            },
            topic_id=None if topic_id == NO_UUID else format_uuid(topic_id),
        )
        config_path = ConfigEntity.topic(name).path
        nodes = [
            Create(config_path, encode_config(overrides)),
            Create(topic_nodes.topic_path(name), assignment.encode()),
        ]
        try:
            try:
                await self._tree.multi(nodes)
            except NodeExists as error:
                if error.path != config_path:
                    raise
                # A deleted topic's settings may be left behind: they must not become ours.
                await self._tree.multi([Delete(config_path), *nodes])
        except NodeExists as error:
            raise _exists(name) from error
        _log.info(
            "created topic %s: %d partitions, replication factor %d%s",
            name,
            len(replicas),
            len(next(iter(replicas.values()))),
            f", {cause}" if cause else "",
        )
        return topic_id

    def check_assignment(self, replicas: Replicas) -> None:
        """Raise unless partitions could have these replicas, as an administrator wants it."""
        live = self._metadata.image.brokers
        sizes = {len(one) for one in replicas.values()}
        unknown = [broker for one in replicas.values() for broker in one if broker not in live]
        problem = None
        if len(sizes) > 1:
            problem = "All partitions should have the same number of replicas."
        elif sizes == {0}:
            problem = "Cannot have replication factor of 0."
        elif any(len(set(one)) < len(one) for one in replicas.values()):
            problem = "Duplicate brokers not allowed in replica assignment."
        elif unknown:
            names = ", ".join(map(str, dict.fromkeys(unknown)))
            problem = f"Unknown broker(s) in replica assignment: {names}."
        if problem:
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)

    async def assignment(self, name: str) -> tuple[TopicAssignment, int]:
        """What the tree has of a topic, and the version of its node."""
        if not is_legal(name):
            raise _unknown(name)  # and it could lead elsewhere in the tree
        try:
            node = await self._tree.get(topic_nodes.topic_path(name))
        except NoNode as error:
            raise _unknown(name) from error
        return topic_nodes.decode_topic(node.data), node.stat.version

    async def add_partitions(
        self, name: str, known: TopicAssignment, added: Replicas, *, version: int
    ) -> None:
        """Give a topic more partitions; raises BadVersion if it has changed meanwhile."""
        partitions = {
            **known.partitions,
            **{number: PartitionAssignment(replicas=one) for number, one in added.items()},
        }
        grown = TopicAssignment(partitions=partitions, topic_id=known.topic_id)
        await self._tree.set(topic_nodes.topic_path(name), grown.encode(), version=version)

    async def is_marked_for_deletion(self, name: str) -> bool:
        """Whether a topic is about to go."""
        if not is_legal(name):
            return False
        return await self._tree.exists(partition_lists.delete_topic_path(name)) is not None

    async def delete(self, name: str, *, cause: str = "") -> None:
        """Mark a topic for deletion; fine if it is marked already. `cause` is for the log."""
        if name not in self._metadata.image.topics:
            raise _unknown(name)
        with contextlib.suppress(NodeExists):
            await self._tree.create(Create(partition_lists.delete_topic_path(name)))
            _log.info("deleting topic %s%s", name, f", {cause}" if cause else "")

    async def until_led(self, name: str, partition_count: int, *, timeout_s: float) -> bool:
        """Wait until all partitions have a leader here; returns whether they have in time."""
        return not await self.until_all_led({name: partition_count}, timeout_s=timeout_s)

    async def until_all_led(
        self, partition_counts: Mapping[str, int], *, timeout_s: float
    ) -> list[str]:
        """Wait until all partitions of topics have leaders; returns the topics that had none."""
        pending = list(partition_counts)

        def are_led() -> bool:
            topics = self._metadata.image.topics
            pending[:] = [
                name for name in pending if not _is_led(topics.get(name), partition_counts[name])
            ]
            return not pending

        await self._waiters.until(
            are_led, keys=list(pending), timeout_s=timeout_s, operation="topic"
        )
        return pending

    async def until_all_gone(self, names: Iterable[str], *, timeout_s: float) -> list[str]:
        """Wait until topics are not known here any more; returns those that still are."""
        pending = list(names)

        def are_gone() -> bool:
            pending[:] = [name for name in pending if name in self._metadata.image.topics]
            return not pending

        await self._waiters.until(
            are_gone, keys=list(pending), timeout_s=timeout_s, operation="topic"
        )
        return pending


def metric_name(name: str) -> str:
    """What a topic is called in metrics, which two topics must not share."""
    return name.replace(".", "_")


def is_legal(name: str) -> bool:
    """Whether a topic may be called so."""
    return _problem_with(name) is None


def check_name(name: str) -> None:
    """Raise unless `name` is a legal name for a topic."""
    problem = _problem_with(name)
    if problem:
        message = f"Topic name is invalid: {problem}"
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)


def _problem_with(name: str) -> str | None:
    problem = None
    if not name:
        problem = "the empty string is not allowed"
    elif name in (".", ".."):
        problem = f"'{name}' is not allowed"
    elif len(name) > NAME_LENGTH_MAX:
        problem = f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    elif not _NAME_CHARACTERS.issuperset(name):
        problem = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return problem


def _is_led(topic: TopicImage | None, partition_count: int) -> bool:
    return (
        topic is not None
        and len(topic.partitions) >= partition_count
        and all(one.leader >= 0 for one in topic.partitions.values())
    )


def _exists(name: str) -> KafkaError:
    return KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def _unknown(name: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
