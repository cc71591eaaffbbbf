"""PostgreSQL through psycopg."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import psycopg
import pyarrow as pa

from moldau.connect.connectors.sql.changes import UPDATE, UPSERT, TableChanges
from moldau.connect.connectors.sql.copying import csv_of
from moldau.connect.connectors.sql.database import (
    Column,
    Row,
    quoted,
    quoted_table,
    without_password,
)
from moldau.connect.connectors.sql.statements import (
    columns_text,
    insert_text,
    same_key,
    with_format_marks,
)
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

_TYPES = {
    Kind.INT8: "smallint",
    Kind.INT16: "smallint",
    Kind.INT32: "integer",
    Kind.INT64: "bigint",
    Kind.FLOAT32: "real",
    Kind.FLOAT64: "double precision",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "text",
    Kind.BYTES: "bytea",
}
_LOGICAL = {DATE: "date", TIME: "time", TIMESTAMP: "timestamptz", DECIMAL: "numeric"}
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, NULL), NOT a.attnotnull,
       COALESCE(a.attnum = ANY (i.indkey), false)
FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_LOCK_S = 60


class Postgresql:
    """One connection to a server."""

    has_transactional_ddl = True

    def __init__(self, url: str) -> None:
        self.name = without_password(url)
        self._stages = 0
        try:
            self._connection = psycopg.connect(
                url, autocommit=True, application_name="moldau-connect", connect_timeout=10
            )
        except psycopg.Error as error:
            raise self._translated(error) from error

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows."""
        try:
            found = self._connection.execute(_marked(statement), tuple(parameters))
            return list(found.fetchall()) if found.description is not None else []
        except psycopg.Error as error:
            raise self._translated(error) from error

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row, sent together."""
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(_marked(statement), list(rows))
        except psycopg.Error as error:
            raise self._translated(error) from error

    def upsert_text(self, table: str, names: Sequence[str], key: Sequence[str], source: str) -> str:
        """Put in what a source gives, or change rows of the same key."""
        return insert_text(table, names, key, source, UPSERT)

    def apply(self, table: str, changes: TableChanges) -> None:
        """By COPY; through a temporary table unless all rows are new."""
        key, rows = changes.key, changes.rows
        target, names = quoted_table(table), rows.column_names
        if changes.gone.num_rows:
            stage = self._stage(table, changes.gone)
            same = f"WHERE {same_key(key)}"
            self.query(f"DELETE FROM {target} AS t USING {stage} AS s {same}")  # noqa: S608
        if not rows.num_rows:
            return
        if changes.mode == UPSERT:
            source = f"SELECT {columns_text(names)} FROM {self._stage(table, rows)}"  # noqa: S608
            self.query(insert_text(table, names, key, source, changes.mode))
        elif changes.mode == UPDATE:
            stage = self._stage(table, rows)
            sets = ", ".join(f"{quoted(e)} = s.{quoted(e)}" for e in names if e not in key)
            joined = f"FROM {stage} AS s WHERE {same_key(key)}"
            self.query(f"UPDATE {target} AS t SET {sets} {joined}")  # noqa: S608
        else:
            self._copy(target, rows)

    def _stage(self, table: str, rows: pa.Table) -> str:
        """Rows in a table of this transaction, whose columns have the types of the target's."""
        self._stages += 1
        stage = quoted(f"moldau_stage_{self._stages}")
        self.query(
            f"CREATE TEMP TABLE {stage} ON COMMIT DROP AS "  # noqa: S608
            f"SELECT {columns_text(rows.column_names)} FROM {quoted_table(table)} WITH NO DATA"
        )
        self._copy(stage, rows)
        return stage

    def _copy(self, target: str, rows: pa.Table) -> None:
        statement = (
            f"COPY {target} ({columns_text(rows.column_names)}) FROM STDIN "
            "(FORMAT csv, ENCODING 'UTF8')"
        )
        try:
            with self._connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
                copy.write(csv_of(rows))
        except psycopg.Error as error:
            raise self._translated(error) from error

    def transaction(self) -> AbstractContextManager[object]:
        """All or nothing."""
        return self._connection.transaction()

    def lock(self, names: Iterable[str]) -> None:
        """Always in the same order, so that two transactions never wait for each other."""
        self.query(f"SET LOCAL lock_timeout = '{_LOCK_S}s'")
        for name in sorted(names):
            self.query("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", [name])

    def tables(self) -> list[str]:
        """Of the schema that is searched first."""
        found = self.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        )
        return [str(row[0]) for row in found]

    def columns(self, table: str) -> list[Column]:
        """As the catalogue has them."""
        return [
            Column(str(name), str(kind), bool(nullable), bool(key))
            for name, kind, nullable, key in self.query(_COLUMNS, [table])
        ]

    def query_columns(self, query: str) -> list[Column]:
        """As the server describes them: whether they may be null it does not say."""
        statement = f"SELECT * FROM ({query}\n) AS polled LIMIT 0"  # noqa: S608 - the user's own
        try:
            described = self._connection.execute(_marked(statement), ()).description or ()
        except psycopg.Error as error:
            raise self._translated(error) from error
        types = self.query(
            "SELECT format_type(t, NULL) FROM unnest(?::oid[]) WITH ORDINALITY AS u(t, at) "
            "ORDER BY at",
            [[each.type_code for each in described]],
        )
        return [
            Column(each.name, str(kind), is_nullable=True, is_key=False)
            for each, (kind,) in zip(described, types, strict=True)
        ]

    def type_of(self, schema: Schema, *, is_key: bool = False) -> str:
        """PostgreSQL's own."""
        del is_key
        if schema.name in _LOGICAL:
            return _LOGICAL[schema.name]
        return _TYPES.get(schema.kind, "jsonb")

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _translated(self, error: psycopg.Error) -> ConnectError:
        # A password in the address is never part of what PostgreSQL says.
        text = f"{self.name}: {str(error).strip()}"
        if isinstance(error, psycopg.DataError | psycopg.IntegrityError):
            return DataError(text)
        return RetriableConnectError(text)


def _marked(statement: str) -> bytes:
    # psycopg takes text that is made while running only as bytes.
    return with_format_marks(statement).encode()
