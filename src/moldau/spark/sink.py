"""The writers that Spark sees: batch and streaming writes to topics, at least once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.writing import write_rows

_EXACTLY_ONCE = (
    "exactlyOnce: a sink of this kind writes at least once, because Spark does not let it choose "
    "which task writes which rows; for exactly once call moldau.spark.write_stream(frame, ...)"
)
_OVERWRITE = "a topic cannot be overwritten: use mode('append')"


@dataclass
class Written(WriterCommitMessage):
    """What a task has done."""

    row_count: int


class BatchWriter(DataSourceArrowWriter):
    """Writes the rows of a frame."""

    def __init__(self, options: SinkOptions, columns: SinkColumns) -> None:
        self._options = options
        self._columns = columns

    @classmethod
    def of(
        cls, options: Mapping[str, str], schema: StructType, *, overwrite: bool
    ) -> "BatchWriter":
        """The writer that the options ask for; ValueError says what is wrong with them."""
        if overwrite:
            raise ValueError(_OVERWRITE)
        return cls(*_checked(options, schema))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return Written(write_rows(iterator, self._options, self._columns))


class StreamWriter(DataSourceStreamArrowWriter):
    """Writes the rows of one micro-batch after the other; a batch that is repeated comes again."""

    def __init__(self, options: SinkOptions, columns: SinkColumns) -> None:
        self._options = options
        self._columns = columns

    @classmethod
    def of(cls, options: Mapping[str, str], schema: StructType) -> "StreamWriter":
        """The writer that the options ask for; ValueError says what is wrong with them.

        In the output mode `complete` each batch is appended as a whole, as Spark's own sink does.
        """
        return cls(*_checked(options, schema))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        return Written(write_rows(iterator, self._options, self._columns))

    def commit(
        self,
        messages: list[WriterCommitMessage | None],
        batchId: int,  # noqa: N803 - Spark's name
    ) -> None:
        """Nothing is left to do: rows are visible as soon as they are stored."""

    def abort(
        self,
        messages: list[WriterCommitMessage | None],
        batchId: int,  # noqa: N803 - Spark's name
    ) -> None:
        """Nothing can be taken back."""


def _checked(options: Mapping[str, str], schema: StructType) -> tuple[SinkOptions, SinkColumns]:
    given = {name.lower(): value for name, value in options.items()}
    if given.get("exactlyonce", "false").strip().lower() != "false":
        raise ValueError(_EXACTLY_ONCE)
    found = SinkOptions.read(options)
    return found, SinkColumns.of(schema, found.topic)
