"""What the catalogue says of tables."""

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.catalog import KnownColumn, logged_columns
from moldau.connect.connectors.mariadb.column_types import ColumnType
from moldau.connect.connectors.mariadb.row_images import (
    BLOB,
    ENUM,
    LONG,
    STRING,
    VARCHAR,
    LogColumn,
)
from unit.connect.connectors.mariadb.databases import Database


@pytest.mark.needs("mariadbd")
def test_tables_columns_and_keys(database: Database) -> None:
    database.run(
        "CREATE TABLE t (a int unsigned, b varchar(5) NOT NULL DEFAULT 'x', c decimal(6,2), "
        "d enum('p','it''s'), e datetime(3), f bit(9), PRIMARY KEY (b, a))",
        "CREATE TABLE u (a int NOT NULL, b int, UNIQUE KEY (b), UNIQUE KEY z (a))",
        "CREATE TABLE v (a int)",
        "CREATE VIEW w AS SELECT * FROM v",
    )
    capture = database.capture()
    catalog, (t, u, v) = (
        capture.catalog,
        (TableName(database.name, each) for each in ("t", "u", "v")),
    )
    assert [each.name for each in capture.tables()] == [t, u, v]
    assert {each.engine for each in capture.tables()} == {"InnoDB"}
    assert [catalog.key(each) for each in (t, u, v)] == [["b", "a"], ["a"], ()]
    # MariaDB's catalogue has expressions, MySQL's has values.
    none, text = ("NULL", "'x'") if database.server.is_mariadb else (None, "x")
    assert catalog.columns(t) == [
        KnownColumn("a", ColumnType("int", is_unsigned=True, size=10), is_nullable=False),
        KnownColumn("b", ColumnType("varchar"), is_nullable=False, default=text),
        KnownColumn("c", ColumnType("decimal", size=6, digits=2), default=none),
        KnownColumn("d", ColumnType("enum", labels=("p", "it's")), default=none),
        KnownColumn("e", ColumnType("datetime", digits=3), default=none),
        KnownColumn("f", ColumnType("bit", size=9), default=none),
    ]
    capture.close()


@pytest.mark.needs("mariadbd")
def test_an_expression_is_no_literal(database: Database) -> None:
    literal = "'uuid()'"
    if not database.server.is_mariadb:
        literal = "uuid()"
    database.run(
        "CREATE TABLE t (a varchar(40) DEFAULT (concat('a', 'b')), "
        "b varchar(40) DEFAULT 'uuid()', c datetime DEFAULT CURRENT_TIMESTAMP)"
    )
    capture = database.capture()
    columns = capture.catalog.columns(TableName(database.name, "t"))
    expression = "concat('a','b')" if database.server.is_mariadb else None
    defaults = [each.default for each in columns]
    assert defaults[:2] == [expression, literal]
    assert str(defaults[2]).lower().startswith("current_timestamp")
    capture.close()


def test_the_log_names_types_and_the_catalogue_what_it_leaves_out() -> None:
    known = [
        KnownColumn("a", ColumnType("int"), is_nullable=False, default="7"),
        KnownColumn("u", ColumnType("uuid")),
        KnownColumn("e", ColumnType("enum", labels=("grün", "b"))),
    ]
    logged = [
        LogColumn("a", LONG, is_unsigned=True),
        LogColumn("u", STRING, size=16),
        LogColumn("e", ENUM, size=1, labels=("", "b")),
        LogColumn("gone", BLOB, size=2, encoding="utf8"),
        LogColumn("raw", VARCHAR, size=3),
        LogColumn("odd", 12),
    ]
    columns, captured = logged_columns(logged, known)
    assert [each.kind.word for each in captured] == [
        *("int", "uuid", "enum", "text", "varbinary", "type 12")
    ]
    assert [each.is_nullable for each in captured] == [False, *[True] * 5]
    assert (captured[0].kind.is_unsigned, captured[0].default) == (True, "7")
    assert (columns[1].form, columns[2].labels) == ("uuid", ("grün", "b"))
