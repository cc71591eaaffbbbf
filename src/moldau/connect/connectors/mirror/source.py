"""Topics of another Kafka into topics of the same partitions, each record once.

Settings, names and offsets are those of MirrorMaker 2's MirrorSourceConnector. A task has one
consumer for all its partitions, and puts what that brings into one transaction, together with
the offsets and, where they are kept at the target, with the offset syncs.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

import pyarrow as pa

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.connect.config.values import flag, number
from moldau.connect.connector import (
    CopiedRecords,
    HomeCluster,
    Offset,
    PlacedRows,
    Source,
    SourceBatch,
    SourcePartition,
)
from moldau.connect.connectors.mirror import clusters
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.connectors.mirror.positions import (
    NOTHING_READ,
    OFFSET,
    last_read,
    named,
    place_of,
)
from moldau.connect.connectors.mirror.reader import MirrorReader
from moldau.connect.connectors.mirror.runs import SyncChoice, runs_of
from moldau.connect.connectors.mirror.syncs import SyncTopic
from moldau.connect.connectors.mirror.topics import (
    ChosenTopic,
    TargetTopics,
    TopicChoice,
    chosen_topics,
)
from moldau.connect.data.record import Outgoing
from moldau.connect.errors import ConfigError, RetriableConnectError
from moldau.errors import InvalidConfig, KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
CONVERTERS = ("key.converter", "value.converter", "header.converter")
_POLL, _LAG_MAX = "consumer.poll.timeout.ms", "offset.lag.max"


class MirrorSource(Source):
    """Each partition of a topic is one of its own."""

    poll_interval_s = 0.0  # the consumer waits
    prefixes = clusters.PREFIXES
    defaults: ClassVar[Mapping[str, str]] = dict.fromkeys(CONVERTERS, BYTES)

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._policy = ReplicationPolicy.of(config)
        self._choice = TopicChoice(config, self._policy)
        self._client = clusters.source_consumer(config)
        self._first = clusters.first_offset(config)
        self._poll_s = number(config, _POLL, 1000) / 1000
        self._is_enabled = flag(config, "enabled", default=True)
        if flag(config, "refresh.topics.enabled", default=True):
            self.partitions_interval_s = _refresh_s(config)
        self._syncs = SyncTopic.of(config, self._policy)
        self._apart = number(config, _LAG_MAX, 100)
        self._home: HomeCluster | None = None
        self._reader: MirrorReader | None = None
        self._producer: Producer[bytes, bytes] | None = None
        self._placed: dict[TopicPartition, list[OffsetSync]] = {}

    def use_home(self, home: HomeCluster) -> None:
        """Topics are made there."""
        self._home = home

    def partitions(self) -> Sequence[SourcePartition]:
        """Of all topics that are copied; the target has them then."""
        if not self._is_enabled:
            return []
        alias = self._policy.source_alias
        with failing("source", alias), Admin(clusters.source_admin(self.config)) as source:
            topics = self._not_reserved(chosen_topics(source, self._choice, self._policy))
            if self._home is not None:
                with failing("target", self._policy.target_alias), self._target() as target:
                    TargetTopics(self.config, source, target).bring_into_line(topics)
                    self._syncs.make(source, target)
        return [named(alias, place) for each in topics for place in each.places()]

    def _target(self) -> Admin:
        assert self._home is not None, "the target is known"
        return Admin(clusters.target_admin(self.config, self._home.client))

    def _not_reserved(self, topics: list[ChosenTopic]) -> list[ChosenTopic]:
        """Without those that would be written into the worker's own."""
        own = frozenset[str]() if self._home is None else self._home.topics
        for each in topics:
            if each.remote in own:
                _log.warning("topic %s is not copied: the worker has one of this name", each.name)
        return [each for each in topics if each.remote not in own]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """The records of one partition, to try it out."""
        del limit
        found = self.read_together([(partition, start)])
        while not found and self.is_behind():
            found = self.read_together([(partition, start)])
        return found.get(0)

    def read_together(
        self, starts: Sequence[tuple[SourcePartition, Offset | None]]
    ) -> Mapping[int, SourceBatch]:
        """All that the consumer has at hand."""
        places = [place_of(partition) for partition, _ in starts]
        with failing("source", self._policy.source_alias):
            if self._reader is None:
                wanted = {
                    place: last_read(offset)
                    for place, (_, offset) in zip(places, starts, strict=True)
                }
                self._reader = MirrorReader(self._client, wanted, self._first)
                if self._first == "latest":
                    return self._noted(places, starts)
            tables = self._reader.poll(self._poll_s)
        return {
            index: self._batch(place, tables[place])
            for index, place in enumerate(places)
            if place in tables
        }

    def _noted(
        self,
        places: Sequence[TopicPartition],
        starts: Sequence[tuple[SourcePartition, Offset | None]],
    ) -> Mapping[int, SourceBatch]:
        """Where the ends are now, so that another begin does not look for them anew."""
        assert self._reader is not None, "it has just begun"
        found = {}
        for index, place in enumerate(places):
            if starts[index][1] is None:
                last = self._reader.last(place)
                found[index] = SourceBatch([], {OFFSET: NOTHING_READ if last is None else last})
        return found

    def _batch(self, place: TopicPartition, table: pa.Table) -> SourceBatch:
        offsets = table.column("offset").to_numpy()
        copied = CopiedRecords(
            self._policy.remote_topic(place.topic),
            place.partition,
            table.drop_columns(["offset"]),
            partial(self._note_places, place, offsets),
        )
        return SourceBatch([], {OFFSET: int(offsets[-1])}, copies=[copied])

    def _note_places(
        self, place: TopicPartition, offsets: Sequence[int], placed: Sequence[PlacedRows]
    ) -> Iterable[Outgoing]:
        """Offset syncs: into the transaction, or to the source once it is committed."""
        if not self._syncs.is_wanted:
            return []
        runs = SyncChoice(self._apart).chosen(runs_of(offsets, placed))
        syncs = [run.sync(place) for run in runs]
        if self._syncs.is_at_source:
            self._placed[place] = syncs
            return []
        return self._syncs.records(syncs)

    def commit(self, partition: SourcePartition, offset: Offset) -> None:
        """Now it is true what the offset syncs say."""
        del offset
        syncs = self._placed.pop(place_of(partition), [])
        if syncs:
            self._send(self._syncs.records(syncs))

    def _send(self, records: Iterable[Outgoing]) -> None:
        """Without them groups are translated less exactly: no reason to stop copying."""
        try:
            if self._producer is None:
                self._producer = Producer(clusters.source_producer(self.config))
            for each in records:
                self._producer.send(
                    each.topic, each.value, key=each.key, partition=0, headers=each.headers
                )
        except KafkaError as error:
            _log.warning(
                "Failed to write offset syncs to the source: groups are translated less exactly; "
                "set offset-syncs.topic.location=target if it may not be written to: %s",
                error,
            )

    def is_behind(self) -> bool:
        """Whether the source has more."""
        return self._reader is None or self._reader.is_behind()

    def measurements(self) -> Mapping[str, float]:
        """How many offsets of each topic are still to be copied."""
        if self._reader is None:
            return {}
        found: dict[str, float] = {
            f"lag_records.{topic}": lag for topic, lag in self._reader.lags().items()
        }
        return {**found, "skipped_offsets": self._reader.skipped}

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """Of this connector."""
        if offset is not None:
            place_of(partition)
            last_read(offset)

    def close(self) -> None:
        """Hang up."""
        try:
            if self._reader is not None:
                self._reader.close()
        finally:
            if self._producer is not None:
                self._producer.close()


def _refresh_s(config: Mapping[str, str]) -> float:
    """Topics and their settings are looked at together."""
    found = number(config, "refresh.topics.interval.seconds", 600)
    if flag(config, "sync.topic.configs.enabled", default=True):
        found = min(found, number(config, "sync.topic.configs.interval.seconds", 600))
    return max(found, 1)


@contextmanager
def failing(role: str, alias: str) -> Iterator[None]:
    """Errors of a cluster with its name, so that it is clear which one does not answer."""
    try:
        yield
    except InvalidConfig as error:  # of a client
        raise ConfigError(f"{role} cluster {alias}: {error}") from error
    except KafkaError as error:
        raise RetriableConnectError(f"{role} cluster {alias}: {error}") from error
    except OSError as error:
        raise RetriableConnectError(f"{role} cluster {alias}: {error}") from error
