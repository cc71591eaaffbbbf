"""What a task of Spark does for a sink: writes its part of a micro-batch, as a worker would."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark import TaskContext

from moldau.connect.connector import Sink
from moldau.connect.spark.reports import report
from moldau.connect.worker.dead_letters import Raw
from moldau.connect.worker.pipeline import SinkPipeline
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.sink_writing import FailedRecords, SinkWriter
from moldau.model import TopicPartition
from moldau.spark.worker import settle

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
"""Of a record, in the order of a `Raw`."""
KEPT_MAX = 8


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """What every task of a sink needs to know."""

    run: str
    """Another one each time that a sink is begun."""
    name: str
    connector: type[Sink]
    config: Mapping[str, str] = field(repr=False)
    settings: WorkerSettings = field(repr=False)


@dataclass(slots=True)
class _Kept:
    writer: SinkWriter
    skipped: list[str]


_kept: dict[tuple[str, int], _Kept] = {}
"""Of this worker process, which does one task after the other: the next need not connect."""


def write_part(batches: Iterator[pa.RecordBatch], plan: SinkPlan) -> Iterator[pa.RecordBatch]:
    """Write all records, and yield how far it went; an error is part of that."""
    settle()
    task = TaskContext.get()
    number = 0 if task is None else task.partitionId()
    offsets: dict[TopicPartition, int] = {}
    skipped: list[str] = []
    failure: Exception | None = None
    try:
        _write(batches, (plan, number), offsets, skipped)
    except Exception as error:  # noqa: BLE001 - the top frame of a task
        failure = error
        for _ in batches:
            pass  # what Spark still has to hand over is let pass
    yield report(offsets, skipped, failure)


def _write(
    batches: Iterator[pa.RecordBatch],
    whose: tuple[SinkPlan, int],
    offsets: dict[TopicPartition, int],
    skipped: list[str],
) -> None:
    """Write batches; adds up how far it came, and what was left out, also if it fails."""
    unsettled: dict[TopicPartition, int] = {}
    with ExitStack() as stack:
        writer: SinkWriter | None = None
        for batch in batches:
            records = records_of_batch(batch)
            if not records:
                continue
            if writer is None:
                writer = stack.enter_context(_borrowed(*whose, skipped))
            writer.write(records)
            unsettled |= {
                TopicPartition(each.topic, each.partition): each.offset + 1 for each in records
            }
            if writer.settle():
                offsets |= unsettled
        # What a micro-batch has brought is stored with it, however little that is.
        if writer is not None and writer.settle(ends=True):
            offsets |= unsettled


def records_of_batch(batch: pa.RecordBatch) -> list[Raw]:
    """The rows of a source, as a consumer has them."""
    topics, partitions, offsets, keys, values, headers = (
        batch.column(name).to_pylist() for name in COLUMNS if name != "timestamp"
    )
    times = batch.column("timestamp").cast(pa.int64()).to_pylist()
    return [
        Raw(
            topic,
            partition,
            offset,
            -1 if micros is None else micros // 1000,
            key,
            value,
            tuple((each["key"], each["value"]) for each in pairs or ()),
        )
        for topic, partition, offset, micros, key, value, pairs in zip(
            topics, partitions, offsets, times, keys, values, headers, strict=True
        )
    ]


@contextmanager
def _borrowed(plan: SinkPlan, number: int, skipped: list[str]) -> Iterator[SinkWriter]:
    """The sink that is open, or one that is made; it stays open unless it fails."""
    kept = _kept.pop((plan.run, number), None) or _begun(plan, number)
    kept.skipped.clear()
    try:
        yield kept.writer
    except BaseException:
        kept.writer.close()
        raise
    finally:
        skipped += kept.skipped
    _kept[plan.run, number] = kept
    while len(_kept) > KEPT_MAX:
        _kept.pop(next(iter(_kept))).writer.close()


def _begun(plan: SinkPlan, number: int) -> _Kept:
    skipped: list[str] = []
    failed = FailedRecords.of(plan.settings, plan.name, plan.config, number, skipped.append)
    sink = plan.connector(plan.config)
    pipeline = SinkPipeline(plan.settings.properties, plan.config)
    return _Kept(SinkWriter(sink, pipeline, failed), skipped)
