"""One server for the tests of this folder; each has a database of its own on it."""

import itertools
from collections.abc import Iterator

import psycopg
import pytest

from postgres import running_postgres
from unit.connect.connectors.postgresql.databases import Database

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="package")
def server_url() -> Iterator[str]:
    """A server that keeps a log for change capture, and throws it away after 64 MB."""
    with running_postgres(
        wal_level="logical", max_replication_slots="40", max_wal_senders="20", min_wal_size="32MB"
    ) as url:
        yield url


@pytest.fixture
def database(server_url: str) -> Iterator[Database]:
    """An empty database; its slots are dropped with it."""
    name = f"d{next(_NUMBERS)}"
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        url = server_url.replace("/postgres?", f"/{name}?")
        with psycopg.connect(url, autocommit=True) as connection:
            yield Database(url, name, connection)
        admin.execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
            "WHERE database = %s AND active",
            [name],
        )
