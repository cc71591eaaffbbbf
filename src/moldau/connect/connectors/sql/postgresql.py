"""PostgreSQL through psycopg."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

import psycopg

from moldau.connect.connectors.sql.database import Column, Row, without_password
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


class Postgresql:
    """One connection to a server."""

    def __init__(self, url: str) -> None:
        self.name = without_password(url)
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

    def transaction(self) -> AbstractContextManager[object]:
        """All or nothing."""
        return self._connection.transaction()

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

    def type_of(self, schema: Schema) -> str:
        """PostgreSQL's own."""
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
    """psycopg's `%s` for each `?`; statements have no other percent signs or question marks."""
    return statement.replace("%", "%%").replace("?", "%s").encode()
