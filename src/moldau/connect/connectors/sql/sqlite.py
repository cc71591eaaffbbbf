"""SQLite, through Python's own module."""

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Self

import pyarrow as pa

from moldau.connect.connectors.sql.changes import UPDATE, UPSERT, TableChanges
from moldau.connect.connectors.sql.database import Column, Row, quoted, quoted_table
from moldau.connect.connectors.sql.statements import insert_text
from moldau.connect.data.schema import Kind, Schema
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

_SQLITE = {
    Kind.STRING: "TEXT",
    Kind.BYTES: "BLOB",
    Kind.FLOAT32: "REAL",
    Kind.FLOAT64: "REAL",
}
_POLLED = "moldau_polled"


class Sqlite:
    """A file of SQLite."""

    has_transactional_ddl = True

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA busy_timeout = 10000")
        except sqlite3.Error as error:
            raise RetriableConnectError(f"{path}: {error}") from error

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows."""
        try:
            with closing(self._connection.execute(statement, tuple(parameters))) as found:
                return found.fetchall()
        except sqlite3.Error as error:
            raise translated(error, self.name) from error

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row."""
        try:
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise translated(error, self.name) from error

    def upsert_text(self, table: str, names: Sequence[str], key: Sequence[str], source: str) -> str:
        """Put in what a source gives, or change rows of the same key."""
        return insert_text(table, names, key, source, UPSERT)

    def apply(self, table: str, changes: TableChanges) -> None:
        """Row by row: SQLite is in the same process, and a staging table would cost more."""
        key, target = changes.key, quoted_table(table)
        if changes.gone.num_rows:
            statement = f"DELETE FROM {target} WHERE {_equal(key)}"  # noqa: S608
            self.run(statement, _rows(changes.gone))
        names = changes.rows.column_names
        if changes.rows.num_rows and changes.mode == UPDATE:
            rest = [each for each in names if each not in key]
            values = ", ".join(f"{quoted(each)} = ?" for each in rest)
            statement = f"UPDATE {target} SET {values} WHERE {_equal(key)}"  # noqa: S608
            self.run(statement, _rows(changes.rows.select([*rest, *key])))
        elif changes.rows.num_rows:
            source = f"VALUES ({', '.join('?' for _ in names)})"
            statement = insert_text(table, names, key, source, changes.mode)
            self.run(statement, _rows(changes.rows))

    def transaction(self) -> "_SqliteTransaction":
        """All or nothing."""
        return _SqliteTransaction(self)

    def lock(self, names: Iterable[str]) -> None:
        """Transactions here wait for each other from their beginning."""

    def tables(self) -> list[str]:
        """Without SQLite's own."""
        found = self.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
            "ESCAPE '\\' ORDER BY name"
        )
        return [str(row[0]) for row in found]

    def columns(self, table: str) -> list[Column]:
        """As the table was declared."""
        found = self.query('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', [table])
        return [
            Column(str(name), str(kind).lower(), not required and not key, bool(key))
            for name, kind, required, key in found
        ]

    def query_columns(self, query: str) -> list[Column]:
        """As those of a view."""
        self.query(f"CREATE TEMP VIEW {_POLLED} AS {query}")
        try:
            found = self.columns(_POLLED)
        finally:
            self.query(f"DROP VIEW temp.{_POLLED}")
        return [Column(each.name, each.kind, is_nullable=True, is_key=False) for each in found]

    def type_of(self, schema: Schema, *, is_key: bool = False) -> str:
        """One of SQLite's few."""
        del is_key
        return _SQLITE.get(schema.kind, "TEXT" if schema.name else "INTEGER")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class _SqliteTransaction:
    def __init__(self, database: Sqlite) -> None:
        self._database = database

    def __enter__(self) -> Self:
        self._database.query("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._database.query("COMMIT" if kind is None else "ROLLBACK")


def translated(error: sqlite3.Error, name: str) -> ConnectError:
    """What may pass and what a record is to blame for are distinguished."""
    if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError):
        return DataError(f"{name}: {error}")
    return RetriableConnectError(f"{name}: {error}")


def _equal(names: Sequence[str]) -> str:
    return " AND ".join(f"{quoted(each)} = ?" for each in names)


def _rows(table: pa.Table) -> Iterator[Row]:
    """SQLite has neither times nor decimals: they are texts."""
    columns = [[_stored(each) for each in column.to_pylist()] for column in table.columns]
    return zip(*columns, strict=True)


def _stored(value: object) -> object:
    is_text = isinstance(value, dt.date | dt.time | Decimal)
    return str(value) if is_text else value
