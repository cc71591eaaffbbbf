"""What a source's task does: reads, and puts records and offset into one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from moldau.client.blocking.producer import Producer
from moldau.connect.config.values import flag
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.errors import DataError
from moldau.connect.storage.records import compact, offset_key
from moldau.connect.worker.pipeline import Outgoing, SourcePipeline

_LIMIT = 10_000


@dataclass(slots=True)
class SourceDuties:
    """What a source's task is told."""

    connector: str
    partitions: Sequence[SourcePartition]
    offset_topic: str
    offset_of: Callable[[SourcePartition], Offset | None]
    stored: Callable[[SourcePartition, Offset], None]
    """Is called with what is committed, so that a later task begins there."""
    used: Callable[[str], None]
    """Is called with each topic that is written to."""
    tolerates: bool = False
    skipped: Callable[[DataError], None] = field(default=lambda _: None)


class SourceWork:
    """Steps of a task: one batch of one partition each."""

    def __init__(
        self,
        source: Source,
        pipeline: SourcePipeline,
        producer: Producer[bytes, bytes],
        duties: SourceDuties,
    ) -> None:
        self._source = source
        self._pipeline = pipeline
        self._producer = producer
        self._duties = duties
        self._offsets = [duties.offset_of(each) for each in duties.partitions]
        self._used: set[str] = set()

    def step(self) -> bool:
        """One batch of each partition."""
        found = False
        for index, partition in enumerate(self._duties.partitions):
            batch = self._source.read(partition, self._offsets[index], _LIMIT)
            if batch is not None:
                self._store(partition, batch)
                self._offsets[index] = batch.offset
                found = True
        return found

    def idle_s(self) -> float:
        """As the connector wants it."""
        return self._source.poll_interval_s

    def close(self) -> None:
        """Both sides."""
        try:
            self._source.close()
        finally:
            self._producer.close()

    def _store(self, partition: SourcePartition, batch: SourceBatch) -> None:
        duties = self._duties
        records = self._converted(batch)
        with self._producer.transaction():
            for each in records:
                self._producer.send(
                    each.topic,
                    each.value,
                    key=each.key,
                    partition=each.partition,
                    timestamp_ms=each.timestamp_ms,
                    headers=each.headers,
                )
            key = offset_key(duties.connector, partition)
            self._producer.send(duties.offset_topic, compact(dict(batch.offset)), key=key)
        duties.stored(partition, batch.offset)
        for topic in {each.topic for each in records} - self._used:
            self._used.add(topic)
            duties.used(topic)
        self._source.commit(partition, batch.offset)

    def _converted(self, batch: SourceBatch) -> list[Outgoing]:
        found: list[Outgoing] = []
        for each in self._pipeline.outgoing(batch.tables):
            if isinstance(each, Outgoing):
                found.append(each)
            elif self._duties.tolerates:
                self._duties.skipped(each)
            else:
                raise each
        return found


def tolerates(config: Mapping[str, str]) -> bool:
    """Whether records that fail are left out."""
    return config.get("errors.tolerance", "none").strip().lower() == "all"


def logs_failures(config: Mapping[str, str]) -> bool:
    """Whether they are logged."""
    return flag(config, "errors.log.enable", default=False)
