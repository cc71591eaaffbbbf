"""The stream of the log, from a real server."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from moldau.connect.connectors.postgresql.frames import KeepAlive, LogData
from moldau.connect.connectors.postgresql.pgoutput import (
    BeginMessage,
    CommitMessage,
    InsertMessage,
    LogicalMessage,
    RelationMessage,
    decode_message,
)
from moldau.connect.connectors.postgresql.replication import (
    ReplicationStream,
    SlotInUseError,
    StreamSettings,
)
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")
_DEADLINE_S = 60


@contextmanager
def streaming(database: Database, *, has_messages: bool = True) -> Iterator[ReplicationStream]:
    name = f"slot_{database.name}"
    settings = StreamSettings(name, "p", has_messages, update_interval_s=0.05)
    stream = ReplicationStream(DatabaseServer(database.config()), settings, 0)
    try:
        yield stream
    finally:
        stream.close()


def prepare(database: Database) -> None:
    database.run("CREATE TABLE t (i integer PRIMARY KEY)", "CREATE PUBLICATION p FOR ALL TABLES")
    database.run(f"SELECT pg_create_logical_replication_slot('slot_{database.name}', 'pgoutput')")


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline


def received(stream: ReplicationStream, count: int) -> list[LogData]:
    found: list[LogData] = []
    deadline = time.monotonic() + _DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < deadline, found
        found += [each for each in stream.receive(0.05) if isinstance(each, LogData)]
    return found


def test_changes_come_and_what_is_confirmed_does_not_come_again(database: Database) -> None:
    prepare(database)
    with streaming(database) as stream:
        assert all(isinstance(each, KeepAlive) for each in stream.receive(0))
        database.run("INSERT INTO t VALUES (1)", "SELECT pg_logical_emit_message(true, 'x', 'y')")
        found = [decode_message(each.payload) for each in received(stream, 7)]
        assert [type(each) for each in found] == [
            *(BeginMessage, RelationMessage, InsertMessage, CommitMessage),
            *(BeginMessage, LogicalMessage, CommitMessage),
        ]
        (first, *_, last) = [each for each in found if isinstance(each, CommitMessage)]
        stream.confirm(first.end_lsn)
        stream.confirm(5)  # never back
        # The thread tells it, though nobody receives.
        until(lambda: int(str(database.slot()[1])) >= first.end_lsn)
    until(lambda: database.slot()[0] is False)  # the server may need a moment to see the end
    with streaming(database) as stream:
        again = [decode_message(each.payload) for each in received(stream, 3)]
        assert again[-1] == last
        stream.confirm(last.end_lsn)
    until(lambda: database.slot()[0] is False)
    assert int(str(database.slot()[1])) >= last.end_lsn  # the end tells it as well


def test_a_slot_has_one_reader(database: Database) -> None:
    prepare(database)
    with streaming(database, has_messages=False) as stream:
        with pytest.raises(SlotInUseError, match="is active for PID"), streaming(database):
            pass
        stream.close()  # twice is fine


def test_a_stream_that_ends_says_so(database: Database) -> None:
    prepare(database)
    with streaming(database) as stream:
        database.run(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
            f"WHERE slot_name = 'slot_{database.name}'"
        )
        with pytest.raises(RetriableConnectError, match="has ended"):
            received(stream, 1)


def test_a_stream_that_cannot_begin_says_why(database: Database) -> None:
    with pytest.raises(RetriableConnectError, match="does not exist"), streaming(database):
        pass
