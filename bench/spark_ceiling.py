"""A Spark source that yields one prebuilt Arrow batch over and over: the most that Python can do.

It has the columns of a topic, so that what Spark does with rows is the same.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from moldau.spark.source import MoldauDataSource
from moldau.spark.worker import settle

PARTITIONS = 6
BATCH_ROWS = 10_000


class Ceiling(DataSource):
    """`format("ceiling")`, with the options `rows`, `size` and `maxPartitions`."""

    @classmethod
    def name(cls) -> str:
        return "ceiling"

    def schema(self) -> StructType:
        return MoldauDataSource({**self.options}).schema()

    def reader(self, schema: StructType) -> "BatchReader":  # noqa: ARG002 - Spark's signature
        return BatchReader(int(self.options["rows"]), int(self.options["size"]), self._tasks())

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: ARG002, N802
        rows, step = int(self.options["rows"]), int(self.options["maxOffsetsPerTrigger"])
        return StreamReader(rows, int(self.options["size"]), step, self._tasks())

    def _tasks(self) -> int:
        return int(self.options.get("maxPartitions", PARTITIONS))


class BatchReader(DataSourceReader):
    """All rows, in so many tasks."""

    def __init__(self, rows: int, size: int, tasks: int) -> None:
        self._rows, self._size, self._tasks = rows, size, tasks

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(share) for share in shares(self._rows, self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return batches(partition.value, self._size)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """All rows, in steps of the option `maxOffsetsPerTrigger`."""

    def __init__(self, rows: int, size: int, step: int, tasks: int) -> None:
        self._rows, self._size, self._step, self._tasks = rows, size, step, tasks

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"rows": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadMaxRows(self._step)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """There is never more."""

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        assert isinstance(limit, ReadMaxRows)
        return {"rows": min(start["rows"] + limit.max_rows, self._rows)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        found = shares(end["rows"] - start["rows"], self._tasks)
        return [InputPartition(share) for share in found if share]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return batches(partition.value, self._size)


def shares(rows: int, tasks: int) -> list[int]:
    """How many rows each task has."""
    return [rows // tasks + (each < rows % tasks) for each in range(tasks)]


def batches(rows: int, size: int) -> Iterator[pa.RecordBatch]:
    """So many rows with values of this size."""
    settle()
    names = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
    count = min(rows, BATCH_ROWS)
    batch = pa.RecordBatch.from_arrays(
        [
            pa.nulls(count, pa.binary()),
            pa.array([b"v" * size] * count, pa.binary()),
            pa.array(["topic"] * count, pa.string()),
            pa.array([0] * count, pa.int32()),
            pa.array(range(count), pa.int64()),
            pa.array(range(count), pa.timestamp("us", tz="UTC")),
            pa.array([0] * count, pa.int32()),
        ],
        list(names),
    )
    while rows > 0:
        yield batch.slice(0, min(rows, count))
        rows -= count
