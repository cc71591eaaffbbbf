"""What CreateTopics asks for, checked and carried out.

All topics of a request are checked first and written together, so that thousands of them
share the commits of the store; then one wait serves them all.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from moldau.broker.settings.configs import Configs
from moldau.broker.settings.resources import require_sensible_settings
from moldau.broker.topics.internal import CLUSTER_METADATA
from moldau.broker.topics.tree import Replicas, Topics, metric_name
from moldau.config.broker.broker import BrokerConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic
from moldau.protocol.primitives import NO_UUID
from moldau.runtime.turns import Turns

DEFAULT = -1
# Enough for the store to commit many at once, and few enough for others to get their turn.
_WRITTEN_TOGETHER = 25
PARTITIONS_MAX = 10_000
"""More in one topic are taken for a mistake; Kafka without ZooKeeper has the same limit."""


@dataclass(slots=True)
class RequestedTopic:
    """One topic of a request, and what has become of it."""

    wanted: CreatableTopic
    replicas: Replicas = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    topic_id: bytes = NO_UUID
    error: KafkaError | None = None

    @property
    def name(self) -> str:
        return self.wanted.name

    @property
    def replication_factor(self) -> int:
        return len(next(iter(self.replicas.values())))


class TopicCreation:
    """Plans topics, then creates what was planned without an error."""

    def __init__(self, topics: Topics, configs: Configs) -> None:
        self._topics = topics
        self._configs = configs

    async def plan(self, wanted: Sequence[CreatableTopic], turns: Turns) -> list[RequestedTopic]:
        """Check every topic of a request."""
        planned = [RequestedTopic(topic) async for topic in turns.each(wanted)]
        counts = Counter(topic.name for topic in wanted)
        taken: dict[str, str] = {}
        async for topic in turns.each(planned):
            try:
                require_once(counts[topic.name], "Found multiple entries for this topic.")
                self._plan(topic, taken)
            except KafkaError as error:
                topic.error = error.kept()
        return planned

    def _plan(self, topic: RequestedTopic, taken: dict[str, str]) -> None:
        wanted = topic.wanted
        if topic.name == CLUSTER_METADATA:
            message = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        self._topics.require_new(topic.name)
        topic.overrides = self._overrides(wanted)
        topic.replicas = self._replicas(wanted)
        # Topics of one request may collide with each other as well.
        other = taken.setdefault(metric_name(topic.name), topic.name)
        if other != topic.name:
            message = f"Topic '{topic.name}' collides with existing topics: {other}"
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)

    def _overrides(self, wanted: CreatableTopic) -> Mapping[str, str]:
        require_sensible_settings(len(wanted.configs))
        missing = [config.name for config in wanted.configs if config.value is None]
        if missing:
            message = f"Null value not supported for topic configs: {','.join(missing)}"
            raise KafkaError(ErrorCode.INVALID_CONFIG, message)
        overrides = {config.name: config.value or "" for config in wanted.configs}
        if overrides:
            self._configs.layers.topic_defaults.with_overrides(overrides)
        return overrides

    def _replicas(self, wanted: CreatableTopic) -> Replicas:
        if wanted.assignments:
            if (wanted.num_partitions, wanted.replication_factor) != (DEFAULT, DEFAULT):
                message = (
                    "Both numPartitions or replicationFactor and replicasAssignments were set. "
                    "Both cannot be used at the same time."
                )
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            return self._assigned(wanted.assignments)
        general = self._config.general
        partition_count = wanted.num_partitions
        if partition_count == DEFAULT:
            partition_count = general.num_partitions
        replication_factor = wanted.replication_factor
        if replication_factor == DEFAULT:
            replication_factor = general.default_replication_factor
        require_sensible_count(partition_count)
        return self._topics.place(partition_count, replication_factor)

    @property
    def _config(self) -> BrokerConfig:
        return self._configs.layers.config

    def _assigned(self, assignments: Sequence[CreatableReplicaAssignment]) -> Replicas:
        replicas = {one.partition_index: tuple(one.broker_ids) for one in assignments}
        if sorted(replicas) != list(range(len(assignments))):
            message = "partitions should be a consecutive 0-based integer sequence"
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        require_sensible_count(len(replicas))
        self._topics.check_assignment(replicas)
        return dict(sorted(replicas.items()))

    async def create(
        self, planned: Sequence[RequestedTopic], *, timeout_s: float, cause: str = ""
    ) -> None:
        """Create what was planned; a topic whose leaders do not come in time gets an error.

        `cause` is for the log.
        """
        good = [topic for topic in planned if topic.error is None]
        for start in range(0, len(good), _WRITTEN_TOGETHER):
            some = good[start : start + _WRITTEN_TOGETHER]
            await asyncio.gather(*(self._create(topic, cause) for topic in some))
        created = {topic.name: topic for topic in planned if topic.error is None}
        counts = {name: len(topic.replicas) for name, topic in created.items()}
        for name in await self._topics.until_all_led(counts, timeout_s=timeout_s):
            created[name].error = KafkaError(ErrorCode.REQUEST_TIMED_OUT)

    async def _create(self, topic: RequestedTopic, cause: str) -> None:
        try:
            topic.topic_id = await self._topics.create(
                topic.name, topic.replicas, topic.overrides, cause=cause
            )
        except KafkaError as error:
            topic.error = error.kept()


def require_once(count: int, message: str) -> None:
    """Raise for something that a request names more than once."""
    if count > 1:
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def require_sensible_count(partition_count: int) -> None:
    """Raise for a number of partitions that cannot be meant."""
    if partition_count <= 0:
        message = "Number of partitions must be larger than 0."
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
    if partition_count > PARTITIONS_MAX:
        message = f"{partition_count} partitions are more than the {PARTITIONS_MAX} allowed."
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
