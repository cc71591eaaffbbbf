"""What tasks of a sink report to the worker, as rows of a frame."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import Row

from moldau.connect.errors import ConnectError
from moldau.connect.spark.failures import as_text, from_text
from moldau.model import TopicPartition

REPORT = "kind string, topic string, partition int, offset bigint, text string"
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("text", pa.string()),
    ]
)
_WRITTEN, _SKIPPED, _FAILED = "written", "skipped", "failed"
SKIPPED_MAX = 100
"""So many records that were left out are named one by one; of the others, their number."""


@dataclass(slots=True)
class TaskOutcome:
    """How far a task, or all tasks of a batch, came."""

    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    """Behind the last record of each partition that is dealt with."""
    skipped: list[str] = field(default_factory=list)
    failure: ConnectError | None = None


def report(
    offsets: dict[TopicPartition, int], skipped: Sequence[str], failure: Exception | None
) -> pa.RecordBatch:
    """The rows of a task."""
    rows: list[tuple[str, str | None, int | None, int | None, str | None]] = [
        (_WRITTEN, where.topic, where.partition, offset, None) for where, offset in offsets.items()
    ]
    rows += [(_SKIPPED, None, None, None, text) for text in skipped[:SKIPPED_MAX]]
    if len(skipped) > SKIPPED_MAX:
        rest = f"{len(skipped) - SKIPPED_MAX} more records were left out"
        rows.append((_SKIPPED, None, None, None, rest))
    if failure is not None:
        rows.append((_FAILED, None, None, None, as_text(failure)))
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(each, kind.type) for each, kind in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def outcome(rows: Iterable[Row]) -> TaskOutcome:
    """All reports of a batch as one; of several failures the first."""
    found = TaskOutcome()
    for row in rows:
        if row.kind == _WRITTEN:
            found.offsets[TopicPartition(row.topic, row.partition)] = row.offset
        elif row.kind == _SKIPPED:
            found.skipped.append(row.text)
        elif found.failure is None:
            found.failure = from_text(row.text)
    return found
