"""The publication is made as its mode says."""

from dataclasses import replace

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.publication import (
    PublicationSettings,
    prepare_publication,
)
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import ConfigError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")
A, B = TableName("public", "a"), TableName("public", "b")


def test_modes(database: Database) -> None:
    database.run("CREATE TABLE a (i integer)", "CREATE TABLE b (i integer)")
    server = DatabaseServer(database.config())

    def prepare(settings: PublicationSettings, *tables: TableName) -> list[tuple[object, ...]]:
        with server.connect("test") as connection:
            prepare_publication(server, connection, settings, tables)
        return database.rows(
            f"SELECT tablename FROM pg_publication_tables WHERE pubname = '{settings.name}' "
            "ORDER BY 1"
        )

    filtered = PublicationSettings("f", "filtered")
    assert prepare(filtered, A) == [("a",)]
    assert prepare(filtered, A, B) == [("a",), ("b",)]
    assert prepare(filtered, B) == [("b",)]
    assert prepare(replace(filtered, mode="all_tables"), A) == [("b",)]  # it is there
    assert prepare(PublicationSettings("all", "all_tables", via_root=True)) == [("a",), ("b",)]
    assert prepare(PublicationSettings("all", "filtered"), A) == [("a",), ("b",)]
    assert prepare(PublicationSettings("none", "no_tables"), A) == []
    with pytest.raises(ConfigError, match=r'CREATE PUBLICATION "p" FOR TABLE'):
        prepare(PublicationSettings("p", "disabled"), A)
    with pytest.raises(ConfigError, match="no table is captured"):
        prepare(PublicationSettings("p", "filtered"))
    assert database.rows("SELECT pubviaroot FROM pg_publication WHERE pubname = 'all'") == [(True,)]
