"""The three topics: made if need be, read to their ends, written by one process alone.

The transactional id is the fence: a new writer ends its predecessor, whose writes that
are not committed by then never will be.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.connect.errors import ConfigError, RetriableConnectError
from moldau.connect.storage.cluster_state import ClusterState
from moldau.connect.storage.records import KeyedValue
from moldau.connect.worker.settings import StateTopic, WorkerSettings
from moldau.errors import TopicAlreadyExists, UnknownTopicOrPartition
from moldau.model import TopicPartition

_POLL_S = 0.2
_REPLICATION_MAX = 3
_DECIDED_S = 120.0
"""Longer than a transaction of a producer that is gone stays open."""
Stored = tuple[dict[str, object], dict[str, object]]
"""A partition of a source, and how far it is."""
Apply = Callable[[bytes | None, bytes | None], None]


async def prepare_topics(settings: WorkerSettings) -> str:
    """Make the topics that are not there; returns the id of the cluster."""
    async with Admin(settings.client("admin.")) as admin:
        cluster = await admin.describe_cluster()
        for topic in settings.topics():
            await create_topic(admin, topic, len(cluster.brokers))
        name = settings.config_topic
        partitions = (await admin.describe_topics(name))[name].partitions
        if len(partitions) != 1:
            raise ConfigError(
                f"Topic '{name}' supplied via the 'config.storage.topic' property is required to "
                f"have a single partition in order to guarantee consistency of connector "
                f"configurations, but found {len(partitions)} partitions."
            )
        return cluster.cluster_id or ""


async def create_topic(admin: Admin, topic: StateTopic, brokers: int) -> None:
    """Make one of the topics if it is not there."""
    factor = topic.replication_factor
    new = NewTopic(
        topic.name,
        partitions=topic.partitions,
        replication_factor=min(_REPLICATION_MAX, brokers) if factor is None else factor,
        configs={"cleanup.policy": "compact"},
    )
    with suppress(TopicAlreadyExists):
        (await admin.create_topics([new])).check()


async def read_state(settings: WorkerSettings) -> ClusterState:
    """Everything that was committed to the three topics."""
    state = ClusterState()
    for topic, apply in (
        (settings.config_topic, state.apply_config),
        (settings.offset_topic, state.apply_offset),
        (settings.status_topic, state.apply_status),
    ):
        await read_topic(settings.client("consumer."), topic, apply)
    return state


async def read_offsets(client: Mapping[str, object], topic: str, connector: str) -> list[Stored]:
    """How far a source is, once it is decided what becomes of transactions that are open.

    Those of other connectors count as well: what was committed behind the first record of one
    that is open is not to be seen until that one has ended.
    """
    state = ClusterState()
    try:
        async with (
            asyncio.timeout(_DECIDED_S),
            Consumer(_asked(client, is_committed_only=False)) as consumer,
        ):
            ends = await consumer.end_offsets(await consumer.partitions_of(topic))
            await read_topic(client, topic, state.apply_offset, ends)
    except UnknownTopicOrPartition:
        return []  # a connector's own topic, before its first record
    except TimeoutError as error:
        raise RetriableConnectError(
            f"{topic} has had an open transaction for {_DECIDED_S:g} s: "
            "kafka-transactions.sh --find-hanging names it"
        ) from error
    return state.offsets_of(connector)


def _asked(client: Mapping[str, object], *, is_committed_only: bool) -> dict[str, object]:
    asked = {
        **client,
        "isolation.level": "read_committed" if is_committed_only else "read_uncommitted",
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": "false",
    }
    asked.pop("group.id", None)
    return asked


async def read_topic(
    client: Mapping[str, object],
    topic: str,
    apply: Apply,
    ends: Mapping[TopicPartition, int] | None = None,
) -> None:
    """All records that a topic has now, or until the ends that are given."""
    async with Consumer(_asked(client, is_committed_only=True)) as consumer:
        partitions = await consumer.partitions_of(topic)
        if ends is None:
            ends = await consumer.end_offsets(partitions)
        left = {each for each in partitions if ends[each] > 0}
        begins = await consumer.beginning_offsets(partitions)
        left = {each for each in left if begins[each] < ends[each]}
        if not left:
            return
        consumer.assign({each: begins[each] for each in left})
        while left:
            for record in await consumer.poll(_POLL_S):
                apply(record.key, record.value)
            left = {each for each in left if await consumer.position(each) < ends[each]}


@dataclass(slots=True)
class StateWriter:
    """Writes settings and states of connectors as the only one who can."""

    settings: WorkerSettings
    _configs: Producer[bytes, bytes] | None = None
    _statuses: Producer[bytes, bytes] | None = None
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """A producer has one transaction at a time; connectors are begun side by side."""

    async def take_over(self) -> None:
        """End the writer before."""
        client = self.settings.client("producer.")
        producer: Producer[bytes, bytes] = Producer(
            {**client, "transactional.id": f"connect-cluster-{self.settings.group_id}"}
        )
        await producer.start()
        self._configs = producer
        # States are news, not decisions: the last one counts, from any writer.
        self._statuses = Producer(client)
        await self._statuses.start()

    async def close(self) -> None:
        """Hang up."""
        for each in (self._configs, self._statuses):
            if each is not None:
                await each.close()
        self._configs = self._statuses = None

    async def write_configs(self, records: Iterable[KeyedValue]) -> None:
        """Settings: all of them or none."""
        assert self._configs is not None, "it has taken over"
        async with self._writing, self._configs.transaction():
            for record in records:
                key, value = record.encoded()
                await self._configs.send(self.settings.config_topic, value, key=key)

    async def write_statuses(self, records: Iterable[KeyedValue]) -> None:
        """States of connectors and tasks."""
        assert self._statuses is not None, "it has taken over"
        for record in records:
            key, value = record.encoded()
            await self._statuses.send(self.settings.status_topic, value, key=key)
        await self._statuses.flush()

    async def write_offsets(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Offsets of sources that are stopped, as somebody asked for by REST."""
        assert self._configs is not None, "it has taken over"
        async with self._writing, self._configs.transaction():
            for key, value in offsets.items():
                await self._configs.send(self.settings.offset_topic, value, key=key)
