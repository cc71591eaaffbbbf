"""Slots: made, looked at, lost."""

from dataclasses import replace

import psycopg
import pytest

from moldau.connect.connectors.postgresql import slot as module
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.connectors.postgresql.slot import (
    SlotState,
    create_slot,
    drop_slot,
    gone_message,
    slot_state,
)
from moldau.connect.errors import ConfigError, RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")
FINE = SlotState(None, "reserved", 5, None, 1000)


def test_a_slot_is_made_and_its_snapshot_shows_what_was_there(database: Database) -> None:
    database.run("CREATE TABLE t (i integer)", "INSERT INTO t VALUES (1)")
    server, name = DatabaseServer(database.config()), f"slot_{database.name}"
    with server.connect("test") as connection, server.replicate("test") as maker:
        assert slot_state(server, connection, name) is None
        created = create_slot(server, maker, name)
        database.run("INSERT INTO t VALUES (2)")
        server.run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ")
        server.run(connection, f"SET TRANSACTION SNAPSHOT '{created.snapshot}'")
        assert server.rows(connection, "SELECT i FROM t") == [(1,)]
        server.run(connection, "COMMIT")
        state = slot_state(server, connection, name)
        assert state is not None
        assert state.confirmed_lsn == created.consistent_lsn
        assert (state.active_pid, state.wal_status, state.is_lost) == (None, "reserved", False)
        assert 0 < state.retained_bytes < 2**20
        with pytest.raises(RetriableConnectError, match="already exists"):
            create_slot(server, maker, name)
        drop_slot(server, connection, name)
        assert slot_state(server, connection, name) is None


def test_a_slot_that_waits_for_too_long_says_for_what(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CREATE_DEADLINE_S", 0.01)
    server, name = DatabaseServer(database.config()), f"slot_{database.name}"
    with psycopg.connect(database.url) as other:
        other.execute("CREATE TABLE t (i integer)")  # has a number, and stays open
        maker = server.replicate("test")
        with pytest.raises(RetriableConnectError, match="began before it are still open"):
            create_slot(server, maker, name)
        maker.close()


def test_slots_of_others_are_not_taken(database: Database) -> None:
    database.run("SELECT pg_create_logical_replication_slot('foreign_slot', 'test_decoding')")
    server = DatabaseServer(database.config())
    with (
        server.connect("test") as connection,
        pytest.raises(ConfigError, match="belongs to plugin test_decoding"),
    ):
        slot_state(server, connection, "foreign_slot")
    database.run("SELECT pg_drop_replication_slot('foreign_slot')")


def test_a_slot_that_keeps_much_is_worth_a_warning() -> None:
    assert FINE.warning("s") is None
    large = replace(FINE, retained_bytes=2**30).warning("s")
    assert large is not None
    assert "keeps 1073741824 bytes" in large
    near = replace(FINE, wal_status="unreserved", safe_bytes=7).warning("s")
    assert near is not None
    assert "wal_status unreserved, 7 more before it is lost" in near
    assert replace(FINE, wal_status="lost").is_lost


def test_what_to_do_about_a_slot_that_is_lost() -> None:
    assert "is gone" in gone_message("s", None)
    lost = gone_message("s", replace(FINE, wal_status="lost"))
    assert "pg_drop_replication_slot('s')" in lost
