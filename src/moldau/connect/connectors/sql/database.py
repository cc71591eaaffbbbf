"""A database: SQLite or PostgreSQL, as far as they differ."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Protocol, Self

from moldau.connect.data.schema import Kind, Schema
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """The database's own word for its type, in small letters."""
    is_nullable: bool
    is_key: bool


class Database(Protocol):
    """One connection; statements are written with `?` for parameters."""

    name: str

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows of a question."""

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row, in the transaction that is open."""

    def transaction(self) -> AbstractContextManager[object]:
        """All statements in it, or none."""

    def tables(self) -> list[str]:
        """The names of all tables; PostgreSQL's of the schema that is searched first."""

    def columns(self, table: str) -> list[Column]:
        """The columns of a table, none if there is no such table."""

    def type_of(self, schema: Schema) -> str:
        """The type of a column that holds values of a schema."""

    def close(self) -> None:
        """Hang up."""


def without_password(url: str) -> str:
    """An address as it may be shown."""
    scheme, found, rest = url.partition("://")
    if not found or "@" not in rest:
        return url.partition("?")[0]
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever stands in it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


_SQLITE = {
    Kind.STRING: "TEXT",
    Kind.BYTES: "BLOB",
    Kind.FLOAT32: "REAL",
    Kind.FLOAT64: "REAL",
}


class Sqlite:
    """A file of SQLite."""

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

    def transaction(self) -> "_SqliteTransaction":
        """All or nothing."""
        return _SqliteTransaction(self)

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

    def type_of(self, schema: Schema) -> str:
        """One of SQLite's few."""
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
    """What may pass and what a record is to blame for are told apart."""
    if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError):
        return DataError(f"{name}: {error}")
    return RetriableConnectError(f"{name}: {error}")
