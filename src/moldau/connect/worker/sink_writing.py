"""From records of topics into a sink: converted, written, and put aside where they fail."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import pyarrow as pa

from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Sink
from moldau.connect.data.arrow import table_of_records
from moldau.connect.errors import ConnectError, DataError
from moldau.connect.worker.dead_letter_topic import dead_letter_producer
from moldau.connect.worker.dead_letters import (
    TASK_PUT,
    DeadLetterQueue,
    FailedRecord,
    Raw,
    logs_failures,
    queue_of,
    tolerates,
)
from moldau.connect.worker.pipeline import Incoming, SinkPipeline, grouped
from moldau.connect.worker.settings import WorkerSettings


@dataclass(slots=True)
class FailedRecords:
    """What becomes of records that fail."""

    tolerates: bool = False
    dead_letters: DeadLetterQueue | None = None
    producer: Callable[[], Producer[bytes, bytes]] | None = None
    """Makes the producer of dead letters, when the first is to be written."""
    skipped: Callable[[FailedRecord], None] = field(default=lambda _: None)

    @classmethod
    def of(
        cls,
        settings: WorkerSettings,
        name: str,
        config: Mapping[str, str],
        task: int,
        log: Callable[[str], None],
    ) -> "FailedRecords":
        """As a connector's settings have it."""
        return cls(
            tolerates(config),
            queue_of(config, name, task),
            lambda: dead_letter_producer(settings, config),
            lambda failure: log(_described(failure)) if logs_failures(config) else None,
        )


class SinkWriter:
    """Has a sink write records in their order; how far they came is for the caller to keep."""

    def __init__(self, sink: Sink, pipeline: SinkPipeline, failed: FailedRecords) -> None:
        self._sink = sink
        self._pipeline = pipeline
        self._failed = failed
        self._batch_ids = count()
        self._producer: Producer[bytes, bytes] | None = None

    def write(self, records: Sequence[Raw]) -> None:
        """Write them, or DataError for the first that cannot be and must not be left out."""
        table = self._pipeline.table(records)
        if table is not None:
            self._write(table, lambda: self._converted(records))
        else:
            for group in grouped(self._converted(records)):
                self._write_group(group)
        if self._producer is not None:
            self._producer.flush()

    def settle(self, *, ends: bool = False) -> bool:
        """Whether all that was written is stored, and not held back by the sink."""
        return self._sink.settle(ends=ends)

    def close(self) -> None:
        """Give back what was opened."""
        try:
            self._sink.close()
        finally:
            if self._producer is not None:
                self._producer.close()

    def _converted(self, records: Sequence[Raw]) -> list[Incoming]:
        found = [self._pipeline.incoming(each) for each in records]
        self._put_aside(each for each in found if isinstance(each, FailedRecord))
        return [each for each in found if isinstance(each, Incoming)]

    def _write_group(self, group: Sequence[Incoming]) -> None:
        try:
            table = table_of_records([each.record for each in group])
        except DataError as error:
            self._refused(group, error)
        else:
            self._write(table, lambda: group)

    def _write(self, table: pa.Table, group: Callable[[], Sequence[Incoming]]) -> None:
        """`group` has the records of the table, if they are asked for."""
        try:
            self._sink.write(table, next(self._batch_ids))
        except DataError as error:
            self._refused(group(), error)

    def _refused(self, group: Sequence[Incoming], error: DataError) -> None:
        if len(group) > 1 and self._failed.tolerates:
            middle = len(group) // 2  # one of them cannot be stored: find it, store the others
            self._write_group(group[:middle])
            self._write_group(group[middle:])
            return
        name = type(self._sink).__qualname__
        self._put_aside(FailedRecord(each.raw, TASK_PUT, name, error) for each in group)

    def _put_aside(self, failures: Iterator[FailedRecord]) -> None:
        failed = self._failed
        for each in failures:
            if not failed.tolerates:
                raise _stopped(each) from each.error
            failed.skipped(each)
            if failed.dead_letters is not None and failed.producer is not None:
                if self._producer is None:
                    self._producer = failed.producer()
                raw, queue = each.record, failed.dead_letters
                self._producer.send(
                    queue.topic, raw.value, key=raw.key, headers=queue.headers(each)
                )


def _stopped(failure: FailedRecord) -> ConnectError:
    raw = failure.record
    where = f"{raw.topic}-{raw.partition} at offset {raw.offset}"
    return DataError(
        f"{failure.error} ({failure.stage} of the record in {where}; "
        "errors.tolerance=all leaves such records out)"
    )


def _described(failure: FailedRecord) -> str:
    raw = failure.record
    return f"{failure.error} ({failure.stage}, {raw.topic}-{raw.partition} at {raw.offset})"
