"""DuckDB, in this process; one process at a time may write to a file."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from moldau.connect.connectors.sql.changes import UPDATE, TableChanges
from moldau.connect.connectors.sql.database import Column, Row, quoted, quoted_table
from moldau.connect.connectors.sql.statements import (
    columns_text,
    insert_text,
    same_key,
    without_zone,
)
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

_TYPES = {
    Kind.INT8: "tinyint",
    Kind.INT16: "smallint",
    Kind.INT32: "integer",
    Kind.INT64: "bigint",
    Kind.FLOAT32: "float",
    Kind.FLOAT64: "double",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "varchar",
    Kind.BYTES: "blob",
}
_LOGICAL = {DATE: "date", TIME: "time", TIMESTAMP: "timestamp"}
_DIGITS = 38
# The words that rows are read by, see types.py.
_WORDS = {
    "tinyint": "smallint",
    "utinyint": "smallint",
    "usmallint": "integer",
    "uinteger": "bigint",
    "ubigint": "numeric",
    "hugeint": "numeric",
    "float": "real",
    "timestamp": "timestamp without time zone",
    "time": "time without time zone",
}
_COLUMNS = """
SELECT c.column_name, c.data_type, c.is_nullable, k.names IS NOT NULL
  AND list_contains(k.names, c.column_name)
FROM duckdb_columns() c LEFT JOIN (
  SELECT table_oid, constraint_column_names AS names FROM duckdb_constraints()
  WHERE constraint_type = 'PRIMARY KEY') k ON k.table_oid = c.table_oid
WHERE c.schema_name = COALESCE(?, current_schema()) AND c.table_name = ?
  AND c.database_name = current_database() ORDER BY c.column_index
"""
_STAGE = "moldau_stage"


class DuckDb:
    """A file of DuckDB."""

    has_transactional_ddl = True

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            self._connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise self._translated(error) from error

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows."""
        try:
            found = self._connection.execute(statement, [without_zone(each) for each in parameters])
            return list(found.fetchall()) if found.description else []
        except duckdb.Error as error:
            raise self._translated(error) from error

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row."""
        try:
            for row in rows:
                self._connection.execute(statement, list(row))
        except duckdb.Error as error:
            raise self._translated(error) from error

    def upsert_text(self, table: str, names: Sequence[str], key: Sequence[str], source: str) -> str:
        """Put in what a source gives, or change rows of the same key."""
        return insert_text(table, names, key, source, "upsert")

    def apply(self, table: str, changes: TableChanges) -> None:
        """From Arrow tables, which DuckDB reads as its own."""
        key, rows, target = changes.key, changes.rows, quoted_table(table)
        if changes.gone.num_rows:
            same = same_key(key)
            statement = f"DELETE FROM {target} AS t USING {_STAGE} AS s WHERE {same}"  # noqa: S608
            self._with_stage(changes.gone, statement)
        if not rows.num_rows:
            return
        names = rows.column_names
        if changes.mode == UPDATE:
            sets = ", ".join(f"{quoted(e)} = s.{quoted(e)}" for e in names if e not in key)
            joined = f"FROM {_STAGE} AS s WHERE {same_key(key)}"
            self._with_stage(rows, f"UPDATE {target} AS t SET {sets} {joined}")  # noqa: S608
        else:
            source = f"SELECT {columns_text(names)} FROM {_STAGE}"  # noqa: S608 - our own name
            self._with_stage(rows, insert_text(table, names, key, source, changes.mode))

    def _with_stage(self, rows: pa.Table, statement: str) -> None:
        self._connection.register(_STAGE, _without_zones(rows))
        try:
            self.query(statement)
        finally:
            # A transaction that has failed takes nothing more; the next stage replaces this one.
            with suppress(duckdb.Error):
                self._connection.unregister(_STAGE)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.query("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self.query("ROLLBACK")
            raise
        self.query("COMMIT")

    def lock(self, names: Iterable[str]) -> None:
        """Of two transactions that change the same row, DuckDB refuses one."""

    def tables(self) -> list[str]:
        """Of the schema that is searched first."""
        found = self.query(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = current_schema() "
            "AND NOT internal ORDER BY 1"
        )
        return [str(row[0]) for row in found]

    def columns(self, table: str) -> list[Column]:
        """As the table was declared."""
        schema, _, name = table.rpartition(".")
        found = self.query(_COLUMNS, [schema or None, name])
        return [
            Column(str(name), _word(str(kind).lower()), bool(nullable), bool(key))
            for name, kind, nullable, key in found
        ]

    def query_columns(self, query: str) -> list[Column]:
        """As DuckDB describes them."""
        return [
            Column(str(name), _word(str(kind).lower()), is_nullable=True, is_key=False)
            for name, kind, *_ in self.query(f"DESCRIBE {query}")
        ]

    def type_of(self, schema: Schema, *, is_key: bool = False) -> str:
        """DuckDB's own."""
        del is_key
        if schema.name == DECIMAL:
            return f"decimal({_DIGITS},{schema.scale})"
        if schema.name in _LOGICAL:
            return _LOGICAL[schema.name]
        return _TYPES.get(schema.kind, "varchar")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _translated(self, error: duckdb.Error) -> ConnectError:
        text = f"{self.name}: {error}"
        if isinstance(error, duckdb.ConstraintException | duckdb.DataError):
            return DataError(text)
        return RetriableConnectError(text)


def _word(kind: str) -> str:
    return _WORDS.get(kind, kind)


def _without_zones(rows: pa.Table) -> pa.Table:
    for at, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz is not None:
            naive = pc.cast(rows.column(at), pa.timestamp(field.type.unit))
            rows = rows.set_column(at, field.name, naive)
    return rows
