"""Rows of a file as records: Parquet, CSV, JSON in lines. The file does not change."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import number, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.data.arrow import arrow_field, schema_of
from moldau.connect.data.inference import fitted, inferred
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

FORMATS = ("parquet", "csv", "jsonl")
_FILE, _ROW = "filename", "row"


class FileSource(Source):
    """One file to its end; the offset is the number of rows that were read."""

    settings = (
        PluginSetting("file", required=True, importance="HIGH"),
        PluginSetting("format", required=True, check=one_of(*FORMATS)),
        PluginSetting("topic", required=True, importance="HIGH"),
        PluginSetting("batch.max.rows", "INT", "10000", check=at_least(1)),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._path = required(config, "file")
        self._format = required(config, "format")
        self._rows_max = number(config, "batch.max.rows", 10_000)
        self._reader: FileRows | None = None

    def partitions(self) -> Sequence[SourcePartition]:
        """The file."""
        return [{_FILE: os.path.abspath(self._path)}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """The next rows; where the last read ended it is not read from the beginning."""
        row, path = _row_of(start), str(partition[_FILE])
        if self._reader is None or not self._reader.is_at(path, row):
            self._reader = FileRows(path, self._format, row, min(limit, self._rows_max))
        values = self._reader.next()
        return None if values is None else SourceBatch([values], {_ROW: self._reader.row})

    def close(self) -> None:
        """Close the file, which its reader holds."""
        self._reader = None


class FileRows:
    """The rows of a file from one on, in portions; at its end it looks no further."""

    def __init__(self, path: str, kind: str, row: int, limit: int) -> None:
        self.row = row
        """Of the next portion."""
        self._path = path
        self._kind = kind
        self._tables = self._opened(row, limit)

    def is_at(self, path: str, row: int) -> bool:
        """Whether what it gives next is what is wanted."""
        return (self._path, self.row) == (path, row)

    def next(self) -> pa.Table | None:
        """A table with the column `value`; None at the end."""
        try:
            found = next(self._tables, None)
        except (pa.ArrowException, ValueError) as error:
            raise DataError(f"{self._path}: it is no {self._kind}: {error}") from error
        except OSError as error:
            raise RetriableConnectError(f"{self._path}: {error.strerror or error}") from error
        if found is None:
            return None
        self.row += found.num_rows
        return as_values(found)

    def _opened(self, skipped: int, limit: int) -> Iterator[pa.Table]:
        readers = {"parquet": _parquet, "csv": _csv, "jsonl": _json_lines}
        for table in readers[self._kind](self._path, limit):
            if skipped >= table.num_rows:
                skipped -= table.num_rows
                continue
            rest, skipped = table.slice(skipped), 0
            yield from (rest.slice(at, limit) for at in range(0, rest.num_rows, limit))


def _row_of(start: Offset | None) -> int:
    row = (start or {}).get(_ROW, 0)
    if not isinstance(row, int) or row < 0:
        raise ConnectError(f"{dict(start or {})} is no offset of this connector: it has a `row`")
    return row


def _parquet(path: str, limit: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(limit):
            yield pa.Table.from_batches([batch])


def _csv(path: str, limit: int) -> Iterator[pa.Table]:
    del limit
    with pyarrow.csv.open_csv(path) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _json_lines(path: str, limit: int) -> Iterator[pa.Table]:
    """Each piece has the schema that holds its lines."""
    with open(path, encoding="utf-8") as file:
        while lines := list(islice(file, limit)):
            values = [json.loads(line) for line in lines if line.strip()]
            if any(not isinstance(each, dict) for each in values):
                raise DataError(f"{path}: a line of JSON is an object")
            schema = inferred(values)
            field = arrow_field("value", schema)
            rows = pa.array([fitted(schema, each) for each in values], field.type)
            columns = [field.type.field(at) for at in range(field.type.num_fields)]
            arrays = [rows.field(at) for at in range(len(columns))]
            yield pa.Table.from_arrays(arrays, schema=pa.schema(columns))


def as_values(table: pa.Table) -> pa.Table:
    """Rows as structs; types that Connect does not have become the nearest that it has."""
    fields = [arrow_field(each.name, schema_of(each)) for each in table.schema]
    columns = [
        # Times lose what is below a millisecond, as Connect's do.
        column.cast(field.type, safe=not pa.types.is_temporal(column.type))
        for column, field in zip(table.columns, fields, strict=True)
    ]
    arrays = [pa.concat_arrays(column.chunks) for column in columns]
    return pa.table({"value": pa.StructArray.from_arrays(arrays, fields=fields)})
