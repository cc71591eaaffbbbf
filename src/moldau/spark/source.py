"""The data source that Spark sees: batch and streaming reads of topics."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from moldau.model import TopicPartition
from moldau.spark.cluster import Cluster
from moldau.spark.offsets import JsonOffsets, Offsets, from_json, to_json
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range, limited, ranges
from moldau.spark.reading import read_range

_TYPES = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
}


class Task(InputPartition):
    """What one task reads."""

    def __init__(self, wanted: Range, *, has_append_time: bool) -> None:
        super().__init__(tuple(wanted))
        self.wanted = wanted
        self.has_append_time = has_append_time


class MoldauDataSource(DataSource):
    """`format("moldau")`."""

    @classmethod
    def name(cls) -> str:
        return "moldau"

    def schema(self) -> str:
        columns = SourceOptions.read(self.options, is_stream=False).columns
        return ", ".join(f"{name} {_TYPES[name]}" for name in columns)

    def reader(self, schema: StructType) -> "BatchReader":
        return BatchReader(_read_options(self.options, schema, is_stream=False))

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802 - Spark's name
        return StreamReader(_read_options(self.options, schema, is_stream=True))


def register(spark: SparkSession) -> None:
    """Make `format("moldau")` known to a session, where it is not found by itself."""
    spark.dataSource.register(MoldauDataSource)


class BatchReader(DataSourceReader):
    """Reads a topic once, from one bound to the other."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        with Cluster(options) as cluster:
            partitions = cluster.partitions()
            start = cluster.offsets(partitions, options.starting)
            end = cluster.offsets(partitions, options.ending)
            return _tasks(start, end, options, cluster)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(partition, self._options)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads topics for as long as the query runs; Spark keeps the offsets in its checkpoint."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._cluster_of_driver: Cluster | None = None
        self._target: Offsets | None = None
        self._latest: Offsets | None = None

    def initialOffset(self) -> JsonOffsets:  # noqa: N802 - Spark's name
        cluster = self._cluster()
        return to_json(cluster.offsets(cluster.partitions(), self._options.starting))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        limit = self._options.offsets_per_trigger_max
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        cluster = self._cluster()
        self._target = cluster.last_offsets(cluster.partitions())

    def latestOffset(self, start: JsonOffsets, limit: ReadLimit) -> JsonOffsets:  # noqa: N802
        cluster = self._cluster()
        latest = self._target
        if latest is None:
            latest = cluster.last_offsets(cluster.partitions())
        self._latest = latest
        begun = self._with_new_partitions(from_json(start), latest)
        if isinstance(limit, ReadMaxRows):
            latest = limited(begun, latest, limit.max_rows)
        # What is gone keeps its offset, or the checkpoint would forget how far it was read.
        return to_json(from_json(start) | latest)

    def reportLatestOffset(self) -> JsonOffsets | None:  # noqa: N802 - Spark's name
        return None if self._latest is None else to_json(self._latest)

    def partitions(self, start: JsonOffsets, end: JsonOffsets) -> Sequence[InputPartition]:
        ends = from_json(end)
        begun = self._with_new_partitions(from_json(start), ends)
        return _tasks(begun, ends, self._options, self._cluster())

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(partition, self._options)

    def stop(self) -> None:
        if self._cluster_of_driver is not None:
            self._cluster_of_driver.close()
            self._cluster_of_driver = None

    def _with_new_partitions(self, start: Offsets, end: Offsets) -> Offsets:
        """Partitions that have appeared since are read from their beginning."""
        new: list[TopicPartition] = sorted(each for each in end if each not in start)
        return start | self._cluster().first_offsets(new) if new else start

    def _cluster(self) -> Cluster:
        """Connected where it is first needed: tasks carry a copy of this object."""
        if self._cluster_of_driver is None:
            self._cluster_of_driver = Cluster(self._options)
        return self._cluster_of_driver

    def __getstate__(self) -> SourceOptions:
        return self._options

    def __setstate__(self, options: SourceOptions) -> None:
        self.__init__(options)  # type: ignore[misc]


def _read_options(
    options: Mapping[str, str], schema: StructType, *, is_stream: bool
) -> SourceOptions:
    """The options; a schema that the user gave chooses the columns."""
    chosen = dict(options)
    chosen["columns"] = ",".join(schema.names)
    return SourceOptions.read(chosen, is_stream=is_stream)


def _tasks(start: Offsets, end: Offsets, options: SourceOptions, cluster: Cluster) -> list[Task]:
    found = ranges(start, end, options.partitions_min)
    with_append_time: frozenset[str] = frozenset()
    if "timestampType" in options.columns and found:
        with_append_time = cluster.topics_with_append_time({each.partition.topic for each in found})
    return [Task(each, has_append_time=each.partition.topic in with_append_time) for each in found]


def _read(partition: InputPartition, options: SourceOptions) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, Task)
    return read_range(partition.wanted, options, has_append_time=partition.has_append_time)
