"""What the server says of settings."""

import pytest

from moldau.connect.connectors.postgresql.validation import server_problem
from postgres import parts_of, running_postgres
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")


def test_a_server_that_gives_its_log_is_fine(database: Database) -> None:
    assert server_problem(database.config()) is None


def test_a_user_who_may_not_replicate(database: Database) -> None:
    database.run("CREATE ROLE nobody_special LOGIN")
    found = server_problem({**database.config(), "database.user": "nobody_special"})
    database.run("DROP ROLE nobody_special")
    assert found is not None
    assert "ALTER ROLE nobody_special REPLICATION" in found


def test_a_server_that_is_not_there(database: Database) -> None:
    found = server_problem({**database.config(), "database.port": "1"})
    assert found is not None
    assert found.startswith("PostgreSQL at ")


def test_a_server_without_a_log_for_this() -> None:
    with running_postgres() as url:
        host, name = parts_of(url)
        config = {
            "database.hostname": host,
            "database.user": "postgres",
            "database.dbname": name,
        }
        found = server_problem(config)
    assert found is not None
    assert "wal_level is replica: set wal_level=logical" in found
