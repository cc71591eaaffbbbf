"""What only the server can tell of settings."""

import pytest

from moldau.connect.connectors.mariadb.server import ServerFacts
from moldau.connect.connectors.mariadb.validation import log_problem, server_problem
from unit.connect.connectors.mariadb.databases import Database

GOOD = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "binlog_checksum": "CRC32",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_bin", "OFF"),
        ("binlog_format", "MIXED"),
        ("binlog_row_image", "MINIMAL"),
        ("binlog_row_metadata", "NO_LOG"),
        ("binlog_checksum", "NONE"),
        ("log_bin_compress", "ON"),
        ("binlog_transaction_compression", "ON"),
        ("binlog_row_value_options", "PARTIAL_JSON"),
    ],
)
def test_how_the_log_is_written_matters(name: str, value: str) -> None:
    assert log_problem(ServerFacts(GOOD)) is None
    problem = log_problem(ServerFacts({**GOOD, name: value}))
    assert problem is not None
    assert problem.startswith(f"{name} is {value}: ")


def test_a_server_of_before_is_told_what_it_has_not() -> None:
    old = {name: value for name, value in GOOD.items() if name != "binlog_row_metadata"}
    assert "binlog_row_metadata is not known" in str(log_problem(ServerFacts(old)))


@pytest.mark.needs("mariadbd")
def test_the_user_needs_the_right_to_read_the_log(database: Database) -> None:
    assert server_problem(database.config()) is None
    database.run("DROP USER IF EXISTS poor@'127.0.0.1'", "CREATE USER poor@'127.0.0.1'")
    database.run("GRANT SELECT ON *.* TO poor@'127.0.0.1'")
    config = database.config(database_user="poor")
    assert "user poor may not read the log: GRANT REPLICATION SLAVE" in str(server_problem(config))
    database.run("GRANT REPLICATION SLAVE ON *.* TO poor@'127.0.0.1'")
    locks = "user poor may not lock the server: GRANT RELOAD ON *.* TO poor"
    extended = {**config, "snapshot.locking.mode": "extended"}
    for wanted in (extended,) if database.server.is_mariadb else (extended, config):
        assert locks in str(server_problem(wanted))
    for unlocked in ({"snapshot.locking.mode": "none"}, {"snapshot.mode": "no_data"}):
        assert server_problem({**config, **unlocked}) is None
    database.run("GRANT RELOAD ON *.* TO poor@'127.0.0.1'")
    assert server_problem(extended) is None
    assert "Access denied" in str(server_problem({**config, "database.password": "wrong"}))
