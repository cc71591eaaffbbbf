"""Connections to the server."""

import pytest

from moldau.connect.connectors.mariadb.server import MariaDbServer, ServerFacts
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.mariadb.databases import Database, Reader

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
    facts = server.facts(connection)
    assert (facts.is_mariadb, facts.has_gtids) == (database.server.is_mariadb, True)
    server.close(connection)
    server.close(connection)
    with pytest.raises(RetriableConnectError):
        server.rows(connection, "SELECT 1")


@pytest.mark.needs("mariadbd")
@pytest.mark.parametrize("mode", ["disable", "required"])
@pytest.mark.parametrize("plugin", ["caching_sha2_password", "mysql_native_password"])
def test_a_password_is_told_with_and_without_encryption(
    database: Database, plugin: str, mode: str
) -> None:
    if database.server.is_mariadb:
        pytest.skip("MariaDB has neither of MySQL's ways")
    user = "sha" if plugin.startswith("caching") else "native"
    database.run(
        f"DROP USER IF EXISTS {user}@'%'",
        f"CREATE USER {user}@'%' IDENTIFIED WITH {plugin} BY 'secret'",
        f"GRANT REPLICATION SLAVE, REPLICATION CLIENT, RELOAD, SELECT ON *.* TO {user}@'%'",
        "FLUSH PRIVILEGES",  # so that the server does not know the password from before
    )
    login = {"database_user": user, "database_ssl_mode": mode}
    for _ in range(2):  # by the server's key, and then by what it remembers
        server = MariaDbServer(database.config(**login, database_password="secret"))
        connection = server.connect()
        ((_, version),) = server.rows(connection, "SHOW STATUS LIKE 'Ssl_version'")
        server.close(connection)
        assert bool(version) == (mode == "required")
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    reader = Reader(database.config(**login, database_password="secret"))
    reader.read(1)
    database.run("INSERT INTO t VALUES (2)")
    assert reader.read(2)[1:] == [("c", (2,), (2,))]
    reader.close()
    wrong = MariaDbServer(database.config(**login, database_password="wrong"))
    with pytest.raises(RetriableConnectError, match="Access denied"):
        wrong.connect()


@pytest.mark.needs("mariadbd")
def test_encryption_that_the_server_has_not_is_missed(database: Database) -> None:
    server = MariaDbServer(database.config(database_ssl_mode="trust"))
    if database.server.is_mariadb:
        with pytest.raises(RetriableConnectError, match="SSL"):
            server.connect()
    else:
        connection = server.connect()  # MySQL makes itself a certificate
        assert server.rows(connection, "SHOW STATUS LIKE 'Ssl_version'")[0][1]
        server.close(connection)
    plain = MariaDbServer(database.config(database_ssl_mode="disable"))
    plain.close(plain.connect())
