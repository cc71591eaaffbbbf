"""Connections to the server."""

import pytest

from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")


def test_texts_are_those_that_are_read_here(database: Database) -> None:
    database.run(f"ALTER DATABASE {database.name} SET datestyle = 'German'")
    database.run(f"ALTER DATABASE {database.name} SET timezone = 'Asia/Tokyo'")
    database.run(f"ALTER DATABASE {database.name} SET intervalstyle = 'iso_8601'")
    server = DatabaseServer(database.config())
    with server.connect("test") as connection:
        statement = (
            "SELECT '2024-02-29'::date::text, '1 day'::interval::text, '\\x00'::bytea::text, "
            "'2024-01-01 00:00+01'::timestamptz::text, 5::money::text, "
            "current_setting('application_name')"
        )
        assert server.rows(connection, statement) == [
            (
                "2024-02-29",
                "1 day",
                "\\x00",
                "2023-12-31 23:00:00+00",
                "$5.00",
                "moldau-connect test",
            )
        ]
        with pytest.raises(RetriableConnectError, match="does not exist"):
            server.rows(connection, "SELECT * FROM nothing")
        with pytest.raises(RetriableConnectError, match="syntax error"):
            server.run(connection, "NOTHING")


def test_what_fails_is_told_without_the_password(database: Database) -> None:
    config = {**database.config(), "database.dbname": "none", "database.password": "s3cret"}
    with pytest.raises(RetriableConnectError, match="does not exist") as failed:
        DatabaseServer({**config, "database.sslrootcert": "/nowhere"}).replicate("test")
    assert "s3cret" not in str(failed.value)
    with pytest.raises(ConfigError, match=r"database\.user"):
        DatabaseServer({"database.hostname": "h"})
