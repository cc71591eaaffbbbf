"""The data source that Spark sees: batch and streaming reads of topics, and writes to them.

Spark makes it in a process of its own for each step: to name the columns, to plan, to follow the
stream, to read. What only one of them needs is imported there.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from moldau.errors import ErrorCode, KafkaError
from moldau.spark.admission import BatchAdmission
from moldau.spark.offsets import JsonOffsets, Offsets, from_json, to_json
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range, divided, ranges, shared
from moldau.spark.remote import is_of_connect

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.spark.cluster import SourceCluster
    from moldau.spark.filters import Narrowing
    from moldau.spark.sink import BatchWriter, StreamWriter

_log = logging.getLogger(__name__)

_DISCOVERED = "pyspark_moldau"
PUSH_DOWN = "spark.sql.python.filterPushdown.enabled"
"""What a session has to be set to before a source may take filters, by `pushDownFilters`."""
_HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
_TYPES: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": ArrayType(_HEADER),
}


class ReadTask(InputPartition):
    """What one task reads."""

    def __init__(self, wanted: tuple[Range, ...]) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def _tasks(found: list[Range], options: SourceOptions) -> list[ReadTask]:
    whole = divided(found, options.partitions_min)
    return [ReadTask(each) for each in shared(whole, options.partitions_max)]


class MoldauDataSource(DataSource):
    """`format("moldau")`."""

    @classmethod
    def name(cls) -> str:
        return "moldau"

    def schema(self) -> StructType:
        options, types = SourceOptions.read(self.options, is_stream=False), _TYPES
        if options.value is not None:
            from moldau.spark.values import value_type  # noqa: PLC0415 - needs pyarrow

            types = types | {"value": value_type(options.value)}
        return StructType([StructField(name, types[name]) for name in options.columns])

    def reader(self, schema: StructType) -> "BatchReader":
        options = _read_options(self.options, schema, is_stream=False)
        return FilteredReader(options) if options.takes_filters else BatchReader(options)

    def streamReader(self, schema: StructType) -> "StreamReader":  # noqa: N802 - Spark's name
        return StreamReader(_read_options(self.options, schema, is_stream=True))

    def writer(self, schema: StructType, overwrite: bool) -> "BatchWriter":
        from moldau.spark.sink import BatchWriter  # noqa: PLC0415 - readers do not need it

        return BatchWriter.of(self.options, schema, overwrite=overwrite)

    def streamWriter(  # noqa: N802 - Spark's name
        self,
        schema: StructType,
        overwrite: bool,  # noqa: ARG002 - a batch is appended in any case
    ) -> "StreamWriter":
        from moldau.spark.sink import StreamWriter  # noqa: PLC0415 - readers do not need it

        return StreamWriter.of(self.options, schema)


def register(spark: SparkSession) -> None:
    """Make `format("moldau")` known to a session."""
    if is_of_connect(spark) or not _is_found_by_spark():
        spark.dataSource.register(MoldauDataSource)


def _is_found_by_spark() -> bool:
    """Whether Spark finds the source in what is installed here, and would warn of a second one."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec(_DISCOVERED) is None:
        return False
    try:
        distribution("moldau")
    except PackageNotFoundError:
        return False
    return True


class BatchReader(DataSourceReader):
    """Reads a topic once, from one bound to the other."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._narrowing: Narrowing | None = None

    def partitions(self) -> Sequence[InputPartition]:
        from moldau.spark.cluster import SourceCluster  # noqa: PLC0415 - tasks do not need it

        options, narrowing = self._options, self._narrowing
        with SourceCluster(options) as cluster:
            partitions = cluster.partitions()
            start = cluster.offsets(partitions, options.starting)
            end = cluster.offsets(partitions, options.ending)
            if narrowing is not None and narrowing.timestamp_first_ms is not None:
                times = dict.fromkeys(partitions, narrowing.timestamp_first_ms)
                for each, offset in cluster.offsets_at(times).items():
                    start[each] = end[each] if offset < 0 else max(start[each], offset)
        found = ranges(start, end)
        if narrowing is not None:
            found = narrowing.narrowed(found)
        return _tasks(found, options)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return _read(partition, self._options)


class FilteredReader(BatchReader):
    """Fetches less where a filter allows it.

    Spark refuses sources that take filters in a session that has push-down off, and says none
    whether it is: so a frame has this reader only if its options ask for it.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        from moldau.spark.filters import Narrowing  # noqa: PLC0415 - only this step needs it

        self._narrowing = Narrowing()
        return self._narrowing.take(filters)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads topics for as long as the query runs; Spark keeps the offsets in its checkpoint."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._admission = BatchAdmission.of(options)
        self._cluster_of_driver: SourceCluster | None = None
        self._target: Offsets | None = None
        self._latest: Offsets | None = None
        self._committed: Offsets | None = None

    def initialOffset(self) -> JsonOffsets:  # noqa: N802 - Spark's name
        cluster = self._cluster()
        return to_json(cluster.offsets(cluster.partitions(), self._options.starting))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        most = self._options.offsets_per_trigger_max
        least = self._options.offsets_per_trigger_min
        if most is not None:
            return ReadMaxRows(most)
        return ReadAllAvailable() if least is None else ReadMinRows(least)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        cluster = self._cluster()
        self._target = cluster.last_offsets(cluster.partitions_found())

    def latestOffset(self, start: JsonOffsets, limit: ReadLimit) -> JsonOffsets:  # noqa: N802
        cluster, before = self._cluster(), from_json(start)
        # Everything is asked for at every trigger: what has appeared is noticed at once.
        latest = self._target or cluster.last_offsets(cluster.partitions_found())
        self._check_losses(before, latest)
        self._commit_to_group(before)
        self._latest = latest
        begun = self._with_new_partitions(before, latest)
        rows_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if self._target is not None or isinstance(limit, ReadAllAvailable):
            self._admission.rows_min = None  # all of it is to be read, however little it is
        end = self._admission.end(begun, latest, rows_max, now_ms=int(time.time() * 1000))
        # What is gone keeps its offset, or the checkpoint would forget how far it was read.
        return start if end is begun else to_json(before | end)

    def reportLatestOffset(self) -> JsonOffsets | None:  # noqa: N802 - Spark's name
        return None if self._latest is None else to_json(self._latest)

    def partitions(self, start: JsonOffsets, end: JsonOffsets) -> Sequence[InputPartition]:
        ends = from_json(end)
        begun = self._with_new_partitions(from_json(start), ends)
        return _tasks(ranges(begun, ends), self._options)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return _read(partition, self._options)

    def stop(self) -> None:
        if self._cluster_of_driver is not None:
            self._cluster_of_driver.close()
            self._cluster_of_driver = None

    def _commit_to_group(self, done: Offsets) -> None:
        """Commit what is done to the group, once.

        Spark asks for the next batch when the one before is done, also while there is no next
        one; its own `commit` comes only with the next.
        """
        if self._options.group is not None and done != self._committed:
            self._cluster().try_commit(done)
            self._committed = done

    def _check_losses(self, start: Offsets, latest: Offsets) -> None:
        """Partitions that are gone, or end before where they were read to."""
        lost = [f"{each} is gone" for each in start if each not in latest]
        lost += [
            f"{each} ends at {latest[each]}, and was read to {offset}"
            for each, offset in start.items()
            if latest.get(each, offset) < offset
        ]
        if not lost:
            return
        if self._options.fails_on_data_loss:
            advice = "was the topic deleted? with failOnDataLoss=false the query goes on"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{lost[0]}: {advice}")
        _log.warning("%s; going on", "; ".join(lost))

    def _with_new_partitions(self, start: Offsets, end: Offsets) -> Offsets:
        """Partitions that have appeared since are read from their beginning."""
        new = sorted(each for each in end if each not in start)
        return start | self._cluster().first_offsets(new) if new else start

    def _cluster(self) -> "SourceCluster":
        """Connected where it is first needed: tasks carry a copy of this object."""
        from moldau.spark.cluster import SourceCluster  # noqa: PLC0415 - tasks do not need it

        if self._cluster_of_driver is None:
            self._cluster_of_driver = SourceCluster(self._options)
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
    read = SourceOptions.read(chosen, is_stream=is_stream)
    if read.value is None or "value" not in schema.names:
        return replace(read, value=None)
    return replace(read, value=read.value.with_type(schema["value"].dataType))


def _read(partition: InputPartition, options: SourceOptions) -> "Iterator[pa.RecordBatch]":
    from moldau.spark.reading import read_ranges  # noqa: PLC0415 - only tasks need it

    # A batch of nothing has one task, without a range.
    return read_ranges(partition.wanted, options) if isinstance(partition, ReadTask) else iter(())
