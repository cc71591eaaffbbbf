"""Connections to the server."""

import pytest

from moldau.connect.connectors.mariadb.server import MariaDbServer, ServerFacts
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.mariadb.databases import Database

CONFIG = {"database.hostname": "127.0.0.1", "database.port": "1", "database.user": "u"}


def test_what_goes_wrong_is_told_without_the_password() -> None:
    server = MariaDbServer({**CONFIG, "database.password": "secret"})
    with pytest.raises(RetriableConnectError, match=r"^MariaDB at 127\.0\.0\.1:1: ") as caught:
        server.connect()
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigError, match=r"database\.user"):
        MariaDbServer({"database.hostname": "h"})


def test_a_connector_has_a_number_of_its_own() -> None:
    one, two = (MariaDbServer({**CONFIG, "topic.prefix": each}).reader_id for each in "ab")
    assert one != two
    assert one == MariaDbServer({**CONFIG, "topic.prefix": "a"}).reader_id
    assert MariaDbServer({**CONFIG, "database.server.id": "5"}).reader_id == 5


def test_what_a_server_is() -> None:
    maria = ServerFacts({"version": "10.11.19-MariaDB", "server_id": "7"})
    assert (maria.is_mariadb, maria.has_gtids, maria.server_id) == (True, True, 7)
    mysql = ServerFacts({"version": "8.0.36", "gtid_mode": "OFF"})
    assert (mysql.is_mariadb, mysql.has_gtids) == (False, False)
    assert ServerFacts({"version": "8.0.36", "gtid_mode": "ON"}).has_gtids


@pytest.mark.needs("mariadbd")
def test_values_are_texts_in_utc(database: Database) -> None:
    server = MariaDbServer(database.config())
    connection = server.connect()
    assert server.rows(connection, "SELECT 1.50, NULL, %s, @@time_zone", ["it's"]) == [
        ("1.50", None, "it's", "+00:00")
    ]
    assert list(server.streamed(connection, "SELECT 1 UNION ALL SELECT 2")) == [(b"1",), (b"2",)]
    for ask in (server.run, lambda *told: list(server.streamed(*told))):
        with pytest.raises(RetriableConnectError, match="syntax"):
            ask(connection, "SELEKT")
    assert server.facts(connection).is_mariadb
    server.close(connection)
    server.close(connection)
    with pytest.raises(RetriableConnectError):
        server.rows(connection, "SELECT 1")


@pytest.mark.needs("mariadbd")
def test_encryption_that_the_server_has_not_is_missed(database: Database) -> None:
    server = MariaDbServer(database.config(database_ssl_mode="trust"))
    with pytest.raises(RetriableConnectError, match="SSL"):
        server.connect()
    plain = MariaDbServer(database.config(database_ssl_mode="disable"))
    plain.close(plain.connect())
