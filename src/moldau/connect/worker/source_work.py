"""What a source's task does: reads, and puts records and offset into one transaction."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.client.blocking.producer import Producer
from moldau.connect.connector import (
    READER,
    CopiedRecords,
    Offset,
    ReadsTogether,
    Source,
    SourceBatch,
    SourcePartition,
    reader_partition,
)
from moldau.connect.data.record import Outgoing
from moldau.connect.errors import DataError
from moldau.connect.storage.records import compact, offset_key
from moldau.connect.storage.topics import Stored, read_offsets
from moldau.connect.worker.copying import send_copied
from moldau.connect.worker.pipeline import SourcePipeline
from moldau.connect.worker.settings import WorkerSettings
from moldau.errors import MessageTooLarge

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt

_LIMIT = 10_000
_REPORT_S = 5.0
"""How often a source is measured that finds nothing."""


@dataclass(slots=True)
class SourceDuties:
    """What a source's task is given."""

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
    prepare: Callable[[str], None] = field(default=lambda _: None)
    """Is called with each topic before its first record, and may make it."""
    report: Callable[[int, Mapping[str, float]], None] = field(default=lambda *_: None)
    """Is called with how many records were stored, and what the source measures."""


class SourceWork:
    """Steps of a task: one batch of one partition each, or of all that are read together."""

    def __init__(
        self,
        source: Source,
        pipeline: SourcePipeline,
        producer: Callable[[], Producer[bytes, bytes]],
        duties: SourceDuties,
    ) -> None:
        self._source = source
        self._pipeline = pipeline
        self._make_producer = producer
        self._producer: Producer[bytes, bytes] | None = None
        self._duties = duties
        self._offsets = [duties.offset_of(each) for each in duties.partitions]
        self._used: set[str] = set()
        self._reported_s = 0.0

    def step(self) -> bool:
        """One batch of each partition."""
        found = False
        if isinstance(self._source, ReadsTogether):
            starts = list(zip(self._duties.partitions, self._offsets, strict=True))
            batches = self._source.read_together(starts)
            if batches:
                self._store(batches)
            found = bool(batches)
        else:
            for index, partition in enumerate(self._duties.partitions):
                batch = self._source.read(partition, self._offsets[index], _LIMIT)
                if batch is not None:
                    self._store({index: batch})
                    found = True
        if not found:
            self._report_measurements()
        return found

    def is_behind(self) -> bool:
        """Whether there is more, although the last step has found nothing."""
        return isinstance(self._source, ReadsTogether) and self._source.is_behind()

    def idle_s(self) -> float:
        """As the connector wants it."""
        return self._source.poll_interval_s

    def rest(self) -> None:
        """Nothing is under way between steps."""

    def close(self) -> None:
        """Both sides."""
        try:
            self._source.close()
        finally:
            if self._producer is not None:
                self._producer.close()

    def take_over(self) -> None:
        """End the writer before: what it has not committed by now never will be."""
        if self._producer is None:
            self._producer = self._make_producer()

    def _report_measurements(self) -> None:
        now_s = time.monotonic()
        if now_s - self._reported_s >= _REPORT_S:
            self._reported_s = now_s
            self._duties.report(0, self._source.measurements())

    def _store(self, batches: Mapping[int, SourceBatch]) -> None:
        duties = self._duties
        records = [each for batch in batches.values() for each in self._converted(batch)]
        copies = [each for batch in batches.values() for each in batch.copies]
        self.take_over()
        new = {each.topic for each in copies} | {each.topic for each in records}
        new -= self._used
        for topic in sorted(new):
            duties.prepare(topic)
        try:
            count = self._write(batches, copies, records)
        except MessageTooLarge as error:
            raise _too_large(sorted(new | self._used), error) from error  # the broker says so
        for index, batch in batches.items():
            duties.stored(duties.partitions[index], batch.offset)
            self._offsets[index] = batch.offset
        duties.report(count, self._source.measurements())
        for topic in new:
            self._used.add(topic)
            duties.used(topic)
        for index, batch in batches.items():
            self._source.commit(duties.partitions[index], batch.offset)

    def _write(
        self,
        batches: Mapping[int, SourceBatch],
        copies: Sequence[CopiedRecords],
        records: Sequence[Outgoing],
    ) -> int:
        """One transaction; returns how many records it has."""
        duties, producer = self._duties, self._producer
        assert producer is not None, "it has taken over"
        with producer.transaction():
            sent = [
                send_copied(each, self._pipeline, producer, self._send, self._skip)
                for each in copies
            ]
            for each in records:
                self._send(each)
            for copy in sent:
                for each in copy.copied.placed(copy.places()):
                    self._send(each)
            for index, batch in batches.items():
                partition = duties.partitions[index]
                self._send_offset(partition, batch.offset)
                for number, offset in batch.others.items():
                    self._send_offset(reader_partition(partition, number), offset)
        rows: int = sum(each.table.num_rows for each in copies)
        return len(records) + rows

    def _send_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        assert self._producer is not None, "it has taken over"
        key = offset_key(self._duties.connector, partition)
        value = None if offset is None else compact(dict(offset))
        self._producer.send(self._duties.offset_topic, value, key=key)

    def _send(self, record: Outgoing) -> "Receipt | None":
        assert self._producer is not None, "it has taken over"
        try:
            return self._producer.send(
                record.topic,
                record.value,
                key=record.key,
                partition=record.partition,
                timestamp_ms=record.timestamp_ms,
                headers=record.headers,
            )
        except MessageTooLarge as error:
            self._skip(_too_large([record.topic], error), error)
            return None

    def _skip(self, failure: DataError, cause: Exception | None = None) -> None:
        """Leave a record out, or raise why it cannot be written."""
        if not self._duties.tolerates:
            raise failure from cause
        self._duties.skipped(failure)

    def _converted(self, batch: SourceBatch) -> list[Outgoing]:
        found: list[Outgoing] = []
        for each in self._pipeline.outgoing(batch):
            if isinstance(each, Outgoing):
                found.append(each)
            else:
                self._skip(each)
        return found


def _too_large(topics: Sequence[str], error: MessageTooLarge) -> DataError:
    first = str(error).partition("\n")[0]
    return DataError(
        f"{', '.join(topics)}: {first}; raise max.message.bytes of the topic, and "
        "producer.override.max.request.size of the connector"
    )


def offset_topic(settings: WorkerSettings, config: Mapping[str, str]) -> str:
    """Where the offsets of a connector are kept."""
    return config.get("offsets.storage.topic", settings.offset_topic)


def committed_offsets(
    settings: WorkerSettings, config: Mapping[str, str], connector: str
) -> list[Stored]:
    """How far a source is, whichever worker or engine wrote it; blocks.

    To be asked once the writer before has been ended: what it has not committed never will be.
    """
    topic = offset_topic(settings, config)
    return asyncio.run(read_offsets(settings.client("consumer."), topic, connector))


def end_readers(
    settings: WorkerSettings, name: str, config: Mapping[str, str], stored: Sequence[Stored]
) -> list[Stored]:
    """End readers that shared the work before, and may still write; what is stored of others."""
    for partition, _ in stored:
        number = partition.get(READER)
        if isinstance(number, int):
            transactional_producer(settings, name, config, number).close()
    return [each for each in stored if READER not in each[0]]


def transactional_producer(
    settings: WorkerSettings, name: str, config: Mapping[str, str], task: int
) -> Producer[bytes, bytes]:
    """The producer of a task, which ends the one that the task had before."""
    return Producer(
        {
            "compression.type": "none",
            "max.block.ms": 60_000,
            # A transaction has thousands of records: Kafka's 16 KiB would make each thirty of
            # them a batch, which costs a fifth of what a capture takes.
            "batch.size": 131_072,
            **settings.client("producer.", config),
            "transactional.id": f"{settings.group_id}-{name}-{task}",
            "client.id": f"connector-producer-{name}-{task}",
        }
    )
