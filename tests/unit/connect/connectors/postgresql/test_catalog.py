"""What the catalogue says."""

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.catalog import Catalog, one_value, quoted_table
from moldau.connect.connectors.postgresql.pgoutput import RelationColumn, RelationMessage
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import ConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")


def catalog_of(database: Database) -> Catalog:
    server = DatabaseServer(database.config())
    return Catalog(server, server.connect("test"))


def test_tables_and_partitions(database: Database) -> None:
    database.run(
        "CREATE TABLE b (i integer)",
        'CREATE TABLE "a ""quoted"" $" (i integer)',
        "CREATE TEMP TABLE gone (i integer)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE parts (i integer) PARTITION BY RANGE (i)",
        "CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10)",
    )
    catalog = catalog_of(database)

    def names(*, via_root: bool) -> list[str]:
        found = catalog.tables(via_root=via_root)
        return [each.name for each in found if each.schema == "public"]

    assert names(via_root=False) == ['a "quoted" $', "b", "part1"]
    assert names(via_root=True) == ['a "quoted" $', "b", "parts"]
    assert [each.name for each in catalog.columns(TableName("public", 'a "quoted" $'))] == ["i"]
    catalog.connection.close()


def test_columns_with_their_types_and_defaults(database: Database) -> None:
    database.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN price AS numeric(6, 2) CHECK (VALUE > 0)",
        "CREATE TABLE t (id bigserial, m mood[] NOT NULL, p price, d varchar(5) DEFAULT 'x', "
        "g integer GENERATED ALWAYS AS (1) STORED)",
        "ALTER TABLE t DROP COLUMN d, ADD COLUMN e text DEFAULT 'y'",
    )
    catalog = catalog_of(database)
    serial, moods, price, text = catalog.columns(TableName("public", "t"))
    assert (serial.is_nullable, serial.default) == (False, "nextval('t_id_seq'::regclass)")
    assert moods.kind.element is not None
    assert moods.kind.element.labels == ("sad", "ok")
    assert price.kind.base is not None
    assert (price.kind.kind, price.kind.base.name, price.kind.base_typmod) == (
        *("d", "numeric", (6 << 16 | 2) + 4),
    )
    assert (text.name, text.default) == ("e", "'y'::text")
    # The log knows a column that is gone by now; a label that is new is looked up.
    gone = RelationColumn("d", 1043, 9, False)
    logged = catalog.logged_columns(RelationMessage(1, "public", "t", "d", (gone,)))
    assert [(each.name, each.is_nullable, each.default) for each in logged] == [("d", True, None)]
    database.run("ALTER TYPE mood ADD VALUE 'happy'")
    again = catalog.columns(TableName("public", "t"))[1]
    assert again.kind.element is not None
    assert again.kind.element.labels == ("sad", "ok", "happy")
    assert catalog.type_of(4_000_000_000).name == "oid 4000000000"
    catalog.connection.close()


def test_keys_are_in_the_order_of_their_index(database: Database) -> None:
    database.run(
        "CREATE TABLE first (a integer, b text, c integer UNIQUE NOT NULL, PRIMARY KEY (b, a))",
        "CREATE TABLE nothing (a integer UNIQUE)",
        "CREATE TABLE uniques (a integer NOT NULL, b integer NOT NULL, c integer)",
        "CREATE UNIQUE INDEX z ON uniques (b) INCLUDE (c)",
        "CREATE UNIQUE INDEX y ON uniques (a) WHERE a > 0",
        "CREATE UNIQUE INDEX x ON uniques ((a + 1))",
    )
    catalog = catalog_of(database)
    keys = [catalog.key(TableName("public", name)) for name in ("first", "nothing", "uniques")]
    assert [list(each) for each in keys] == [["b", "a"], [], ["b"]]
    database.run(
        "CREATE UNIQUE INDEX other ON uniques (a, b)",
        "ALTER TABLE uniques REPLICA IDENTITY USING INDEX other",
    )
    assert list(catalog.key(TableName("public", "uniques"))) == ["a", "b"]
    catalog.connection.close()


def test_names_and_single_values() -> None:
    assert quoted_table(TableName("s", 'a"b')) == '"s"."a""b"'
    assert one_value([(5,)]) == 5
    with pytest.raises(ConnectError, match="no row"):
        one_value([])
