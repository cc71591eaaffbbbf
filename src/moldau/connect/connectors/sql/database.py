"""What connectors need of a database, as far as databases differ."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from moldau.connect.connectors.sql.changes import TableChanges
from moldau.connect.data.schema import Schema

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: str
    """A word for its type, in small letters: the database's own, or one that types.py knows."""
    is_nullable: bool
    is_key: bool


class Database(Protocol):
    """One connection; statements are written with `?` for parameters."""

    name: str
    has_transactional_ddl: bool
    """Whether statements that make or change tables can be part of a transaction."""

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows of a question."""

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row, in the transaction that is open."""

    def upsert_text(self, table: str, names: Sequence[str], key: Sequence[str], source: str) -> str:
        """Put in what a source gives, `VALUES …` or `SELECT …`, or change rows of the same key."""

    def apply(self, table: str, changes: TableChanges) -> None:
        """Delete, then write rows, in the transaction that is open."""

    def transaction(self) -> AbstractContextManager[object]:
        """All statements in it, or none."""

    def lock(self, names: Iterable[str]) -> None:
        """Keep other transactions that ask for one of these names waiting until this one ends."""

    def tables(self) -> list[str]:
        """The names of all tables; PostgreSQL's of the schema that is searched first."""

    def columns(self, table: str) -> list[Column]:
        """The columns of a table, none if there is no such table."""

    def query_columns(self, query: str) -> list[Column]:
        """The columns of what a query gives."""

    def type_of(self, schema: Schema, *, is_key: bool = False) -> str:
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
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: str) -> str:
    """The name of a table, maybe after that of its schema and a dot."""
    return ".".join(map(quoted, name.split(".")))
