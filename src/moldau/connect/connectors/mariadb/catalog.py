"""What the server's catalogue says of tables, columns and keys.

It says how things are now, which may be later than the place in the log that is being read:
names and types come from the log, and only the rest from here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.column_types import ColumnType
from moldau.connect.connectors.mariadb.row_images import (
    BIT,
    BLOB,
    DATE,
    DATETIME,
    DECIMAL,
    DOUBLE,
    ENUM,
    FLOAT,
    GEOMETRY,
    INT24,
    JSON,
    LONG,
    LONGLONG,
    SET,
    SHORT,
    STRING,
    TIME,
    TIMESTAMP,
    TINY,
    VAR_STRING,
    VARCHAR,
    YEAR,
    LogColumn,
)
from moldau.connect.connectors.mariadb.server import Connection, MariaDbServer

_TABLES = """
SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE FROM information_schema.TABLES
WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1, 2
"""
_COLUMNS = """
SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT,
  COALESCE(NUMERIC_PRECISION, 0), COALESCE(NUMERIC_SCALE, DATETIME_PRECISION, 0), EXTRA
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
ORDER BY ORDINAL_POSITION
"""
# The primary key; without one the first unique index without nulls.
_KEY = """
SELECT INDEX_NAME, COLUMN_NAME, NULLABLE, COALESCE(SUB_PART, 0) FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND NON_UNIQUE = 0
ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX
"""
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_FORMS = ("uuid", "inet4", "inet6")
_WORDS = {
    TINY: "tinyint",
    SHORT: "smallint",
    INT24: "mediumint",
    LONG: "int",
    LONGLONG: "bigint",
    FLOAT: "float",
    DOUBLE: "double",
    DECIMAL: "decimal",
    BIT: "bit",
    YEAR: "year",
    DATE: "date",
    TIME: "time",
    DATETIME: "datetime",
    TIMESTAMP: "timestamp",
    ENUM: "enum",
    SET: "set",
    JSON: "json",
    GEOMETRY: "geometry",
}
_TEXT_WORDS = {
    VARCHAR: ("varchar", "varbinary"),
    VAR_STRING: ("varchar", "varbinary"),
    STRING: ("char", "binary"),
    BLOB: ("text", "blob"),
}


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """A column as the catalogue and the log describe it."""

    name: str
    kind: ColumnType
    is_nullable: bool = True
    default: str | None = None
    """An expression."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table that there is."""

    name: TableName
    engine: str


@dataclass(frozen=True, slots=True)
class ServerCatalog:
    """Asks one connection."""

    server: MariaDbServer
    connection: Connection

    def tables(self) -> list[KnownTable]:
        """All tables."""
        return [
            KnownTable(TableName(str(database), str(name)), str(engine or ""))
            for database, name, engine in self.server.rows(self.connection, _TABLES)
        ]

    def columns(self, table: TableName) -> list[KnownColumn]:
        """As they are now, in the table's order."""
        return [
            KnownColumn(
                str(name),
                ColumnType(
                    str(word).lower(),
                    "unsigned" in str(whole),
                    int(precision or 0),
                    int(digits or 0),
                    _labels(str(whole)) if word in ("enum", "set") else (),
                ),
                nullable == "YES",
                _default(default, str(extra)),
            )
            for name, word, whole, nullable, default, precision, digits, extra in self.server.rows(
                self.connection, _COLUMNS, [table.schema, table.name]
            )
        ]

    def key(self, table: TableName) -> Sequence[str]:
        """Columns of the key, in its order."""
        rows = self.server.rows(self.connection, _KEY, [table.schema, table.name])
        for index in dict.fromkeys(row[0] for row in rows):
            parts = [row for row in rows if row[0] == index]
            if all(nullable != "YES" for _, _, nullable, _ in parts):
                return [str(column) for _, column, _, _ in parts]
        return ()


def _default(text: str | None, extra: str) -> str | None:
    """MySQL has literals without quotes, so that an expression looks like one."""
    is_expression = "DEFAULT_GENERATED" in extra
    is_now = text is not None and text.upper().startswith("CURRENT_TIMESTAMP")
    return None if is_expression and not is_now else text


def _labels(whole: str) -> tuple[str, ...]:
    return tuple(each.replace("''", "'") for each in _LABEL.findall(whole))


def logged_columns(
    columns: Sequence[LogColumn], known: Sequence[KnownColumn]
) -> tuple[list[LogColumn], list[KnownColumn]]:
    """Those that the log has, with what only the catalogue knows of them."""
    by_name = {each.name: each for each in known}
    logged, captured = [], []
    for each in columns:
        now = by_name.get(each.name)
        column = each if now is None else _completed(each, now)
        kind = ColumnType(
            _word(column), column.is_unsigned, column.size, column.digits, column.labels
        )
        is_nullable = now is None or now.is_nullable
        captured.append(
            KnownColumn(each.name, kind, is_nullable, None if now is None else now.default)
        )
        logged.append(column)
    return logged, captured


def _completed(column: LogColumn, now: KnownColumn) -> LogColumn:
    if column.kind == STRING and column.encoding is None and now.kind.word in _FORMS:
        return replace(column, form=now.kind.word)
    if "" in column.labels and len(column.labels) == len(now.kind.labels):
        # Labels that are no UTF-8 are not read from the log.
        return replace(column, labels=now.kind.labels)
    return column


def _word(column: LogColumn) -> str:
    if column.form:
        return column.form
    if column.kind in _TEXT_WORDS:
        return _TEXT_WORDS[column.kind][column.encoding is None]
    return _WORDS.get(column.kind, f"type {column.kind}")
