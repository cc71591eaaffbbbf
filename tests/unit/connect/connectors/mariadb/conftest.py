"""A server of each kind for the tests of this folder; each has a database of its own on it."""

import itertools
from collections.abc import Iterator

import pytest

from mariadb import MariaDb, running_mariadb
from mysql import needs_mysql, running_mysql
from unit.connect.connectors.mariadb.databases import Database

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="package", params=["mariadb", pytest.param("mysql", marks=needs_mysql())])
def server(request: pytest.FixtureRequest) -> Iterator[MariaDb]:
    with running_mariadb() if request.param == "mariadb" else running_mysql() as found:
        yield found


@pytest.fixture
def database(server: MariaDb) -> Iterator[Database]:
    """An empty database."""
    name = f"d{next(_NUMBERS)}"
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
        cursor.execute(f"USE {name}")
    yield Database(server, name, connection)
    connection.close()
