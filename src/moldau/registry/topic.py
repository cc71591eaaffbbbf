"""The topic `_schemas`: made if need be, and read from its beginning for as long as this runs."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from moldau.client.admin.admin import Admin
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import NewTopic
from moldau.client.consumer.consumer import Consumer
from moldau.client.record import ConsumerRecord
from moldau.errors import (
    AuthenticationFailed,
    AuthorizationFailed,
    KafkaError,
    RetriableError,
    TopicAlreadyExists,
)
from moldau.model import TopicPartition
from moldau.registry.records import NoopRecord, RegistryRecord, Rubbish, SchemaRecord, decode
from moldau.registry.subjects import Subjects
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

_POLL_S = 5.0
_RETRY_S = 0.2
_START_S = 60.0
_REPLICATION_MAX = 3
_RECORDS_AT_ONCE = 500
_APPLIED = "applied"
# Rights and passwords are mended while this runs.
_PASSING = (RetriableError, AuthorizationFailed, AuthenticationFailed)
_COMPACT = "compact"

Client = Mapping[str, object]
"""Settings of a client, by Kafka's names."""


class TopicUnusable(RuntimeError):
    """The topic is not one that a registry can keep its schemas in."""


async def prepare_topic(client: Client, name: str, replication_factor: int | None) -> None:
    """Make the topic if it is not there; TopicUnusable if one of another kind is."""
    async with Admin(client) as admin:
        wanted = replication_factor
        if wanted is None:
            wanted = min(_REPLICATION_MAX, len((await admin.describe_cluster()).brokers))
        configs = {"cleanup.policy": _COMPACT}
        new = NewTopic(name, partitions=1, replication_factor=wanted, configs=configs)
        created = await admin.create_topics([new])
        with suppress(TopicAlreadyExists):
            created.check()
        partitions = (await admin.describe_topics(name))[name].partitions
        if len(partitions) != 1:
            raise TopicUnusable(f"{name} has {len(partitions)} partitions and must have one")
        resource = ConfigResource.topic(name)
        policy = (await admin.describe_configs([resource]))[resource]["cleanup.policy"].value
        if policy != _COMPACT:
            raise TopicUnusable(
                f"{name} has cleanup.policy={policy}, by which schemas would be deleted after "
                f"a while: set it to {_COMPACT}"
            )


@dataclass(slots=True)
class TopicReader:
    """Brings the records of the topic into the state, in their order, once they are committed."""

    client: Client
    topic: str
    subjects: Subjects
    thinking: asyncio.Lock
    """Held by threads that look at the state."""
    applied_offset: int = -1
    before_last_offset: int = -1
    """The record before the last one: what lies between was aborted, or says that it was."""
    failure: str = ""
    """Why the topic is not followed any more: it was deleted or truncated."""
    _waiters: Waiters = field(default_factory=Waiters)
    _position: int = 0

    @property
    def partition(self) -> TopicPartition:
        """The only one of the topic."""
        return TopicPartition(self.topic, 0)

    async def run(self, started: Callable[[], None]) -> None:
        """Read until cancelled; `started` is called when all that was there has been read."""
        settings = {
            **self.client,
            "isolation.level": "read_committed",
            "auto.offset.reset": "none",
            "allow.auto.create.topics": "false",
        }
        async with Consumer(settings) as consumer:
            begin = await consumer.beginning_offsets([self.partition])
            end = (await consumer.end_offsets([self.partition]))[self.partition]
            consumer.assign(begin)
            self._position = begin[self.partition]
            while self._position < end:
                await self._read(consumer, _RETRY_S)
                if self.failure:
                    raise TopicUnusable(self.failure)
            started()
            while not self.failure:
                await self._read(consumer, _POLL_S)
        _log.error("%s; schemas are still read, but none is written", self.failure)

    async def reached(self, offset: int, timeout_s: float) -> bool:
        """Return True once the record at this offset is in the state, or False if it is not."""
        return await self._waiters.until(
            lambda: self.applied_offset >= offset, keys=[_APPLIED], timeout_s=timeout_s
        )

    async def _read(self, consumer: Consumer[bytes, bytes], timeout_s: float) -> None:
        try:
            records = await consumer.poll(timeout_s, max_records=_RECORDS_AT_ONCE)
        except _PASSING as error:
            _log.warning("%s cannot be read at the moment: %s", self.topic, error)
            await asyncio.sleep(_RETRY_S)
            return
        except KafkaError as error:
            self.failure = f"{self.topic} was deleted or truncated: {error}"
            return
        async with self.thinking:
            for record in records:
                self._apply(record)
        self._position = await consumer.position(self.partition)
        self._waiters.wake(_APPLIED)

    def _apply(self, record: ConsumerRecord[bytes, bytes]) -> None:
        try:
            self.subjects.apply(decode(record.key, record.value))
        except Rubbish as error:
            _log.warning("%s: the record at %d is left out: %s", self.topic, record.offset, error)
        self.before_last_offset, self.applied_offset = self.applied_offset, record.offset


async def highest_id_between(
    client: Client, partition: TopicPartition, start_offset: int, end_offset: int
) -> int:
    """The highest id of schemas in [start, end), those of aborted transactions among them.

    Others that read the topic, as Confluent's registry does, see such schemas.
    """
    settings = {**client, "isolation.level": "read_uncommitted", "auto.offset.reset": "earliest"}
    found = 0
    async with Consumer(settings) as consumer, asyncio.timeout(_START_S):
        consumer.assign({partition: start_offset})
        while start_offset < end_offset:
            for record in await consumer.poll(_RETRY_S):
                if record.offset < end_offset:
                    found = max(found, _id_of(record))
            start_offset = await consumer.position(partition)
    return found


def _id_of(record: ConsumerRecord[bytes, bytes]) -> int:
    decoded: RegistryRecord = NoopRecord()
    with suppress(Rubbish):
        decoded = decode(record.key, record.value)
    if isinstance(decoded, SchemaRecord) and decoded.value is not None:
        return decoded.value.schema_id
    return 0
