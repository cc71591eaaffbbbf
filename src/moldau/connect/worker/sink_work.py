"""What a sink's task does: reads topics, writes to the sink, then commits how far it is."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Sink
from moldau.connect.data.arrow import table_of_records
from moldau.connect.errors import ConnectError, DataError
from moldau.connect.worker.dead_letters import TASK_PUT, DeadLetterQueue, FailedRecord
from moldau.connect.worker.pipeline import Incoming, SinkPipeline, grouped

_POLL_S = 0.5


@dataclass(slots=True)
class SinkDuties:
    """What a sink's task is told."""

    topics: Sequence[str] | re.Pattern[str]
    used: Callable[[str], None]
    tolerates: bool = False
    dead_letters: DeadLetterQueue | None = None
    producer: Callable[[], Producer[bytes, bytes]] | None = None
    """Makes the producer of dead letters, when the first is to be written."""
    skipped: Callable[[FailedRecord], None] = field(default=lambda _: None)


class SinkWork:
    """Steps of a task: what one poll brings, each."""

    def __init__(
        self,
        sink: Sink,
        pipeline: SinkPipeline,
        consumer: Consumer[bytes, bytes],
        duties: SinkDuties,
    ) -> None:
        self._sink = sink
        self._pipeline = pipeline
        self._consumer = consumer
        self._duties = duties
        self._batch_id = 0
        self._used: set[str] = set()
        self._producer: Producer[bytes, bytes] | None = None
        consumer.subscribe(duties.topics)

    def step(self) -> bool:
        """Write a portion; True, since the poll has waited already."""
        records = self._consumer.poll(_POLL_S)
        if not records:
            return True
        for topic in {each.topic for each in records} - self._used:
            self._used.add(topic)
            self._duties.used(topic)
        found = [self._pipeline.incoming(each) for each in records]
        self._fail(each for each in found if isinstance(each, FailedRecord))
        for group in grouped(each for each in found if isinstance(each, Incoming)):
            self._write(group)
        if self._producer is not None:
            self._producer.flush()
        self._consumer.commit()
        return True

    def idle_s(self) -> float:
        """The poll waits."""
        return 0.0

    def close(self) -> None:
        """All sides."""
        try:
            self._sink.close()
        finally:
            self._consumer.close()
            if self._producer is not None:
                self._producer.close()

    def _write(self, group: list[Incoming]) -> None:
        try:
            self._sink.write(table_of_records([each.record for each in group]), self._batch_id)
            self._batch_id += 1
        except DataError as error:
            if len(group) > 1 and self._duties.tolerates:
                for each in group:  # one of them cannot be stored: find it, store the others
                    self._write([each])
                return
            name = type(self._sink).__qualname__
            self._fail(FailedRecord(each.raw, TASK_PUT, name, error) for each in group)

    def _fail(self, failures: Iterator[FailedRecord]) -> None:
        duties = self._duties
        for each in failures:
            if not duties.tolerates:
                raise _stopped(each) from each.error
            duties.skipped(each)
            if duties.dead_letters is not None and duties.producer is not None:
                if self._producer is None:
                    self._producer = duties.producer()
                raw, queue = each.record, duties.dead_letters
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
