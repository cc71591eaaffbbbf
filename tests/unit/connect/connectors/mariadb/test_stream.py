"""The stream of the log from a server."""

import time

import pytest

from moldau.connect.connectors.mariadb.events import GroupBegun, GroupEnded, LogEvent, RowsChanged
from moldau.connect.connectors.mariadb.gtids import gtids_of
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.server import MariaDbServer
from moldau.connect.connectors.mariadb.snapshot import snapshot_position
from moldau.connect.connectors.mariadb.stream import BinlogStream, LogLostError
from moldau.connect.errors import RetriableConnectError
from unit.connect.connectors.mariadb.databases import Database

pytestmark = pytest.mark.needs("mariadbd")
_DEADLINE_S = 60


def read_until(stream: BinlogStream, count: int) -> list[LogEvent]:
    """On until so many transactions have ended."""
    found: list[LogEvent] = []
    deadline = time.monotonic() + _DEADLINE_S
    while sum(isinstance(each, GroupEnded) for each in found) < count:
        assert time.monotonic() < deadline, found
        found += stream.receive(0.1)
    return found


def here(database: Database, *, has_gtids: bool = True) -> BinlogPosition:
    capture = database.capture()
    found = snapshot_position(capture.server, capture.connection, capture.facts)
    capture.close()
    return found if has_gtids else BinlogPosition(found.file, found.pos)


@pytest.mark.parametrize("has_gtids", [True, False])
def test_it_begins_where_it_is_told(database: Database, *, has_gtids: bool) -> None:
    database.run("CREATE TABLE t (i int)", "INSERT INTO t VALUES (1)")
    position = here(database, has_gtids=has_gtids)
    database.run("INSERT INTO t VALUES (2), (3)", "INSERT INTO t VALUES (4)")
    stream = BinlogStream(MariaDbServer(database.config()), position, 0.1)
    found = read_until(stream, 2)
    assert [each.operation for each in found if isinstance(each, RowsChanged)] == ["c", "c"]
    begun = [each for each in found if isinstance(each, GroupBegun)]
    assert begun[0].position == position.pos
    before = position.gtids or here(database).gtids
    assert before is not None
    assert before.added(begun[0].gtid or "").added(begun[-1].gtid or "").text == database.gtid()
    stream.close()


def test_a_log_that_was_thrown_away_is_told(database: Database) -> None:
    database.run("CREATE TABLE t (i int)", "FLUSH BINARY LOGS")
    server = MariaDbServer(database.config())
    database.purge()
    listed = ["0-7-1", ""]
    if not database.server.is_mariadb:
        listed = [database.gtid().replace(":1-", ":2-")]
    for gtids in (None, *map(gtids_of, listed)):
        position = BinlogPosition("binlog.000001", 4, gtids)
        stream = BinlogStream(server, position, 0.1)
        with pytest.raises(LogLostError):
            read_until(stream, 1)
        stream.close()


def test_a_connection_that_breaks_is_not_made_again(database: Database) -> None:
    database.run("CREATE TABLE t (i int)")
    stream = BinlogStream(MariaDbServer(database.config()), here(database), 0.1)
    database.run("INSERT INTO t VALUES (1)")
    read_until(stream, 1)
    for (thread,) in database.rows(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'"
    ):
        database.run(f"KILL {thread}")
    with pytest.raises(RetriableConnectError, match="MariaDB at "):
        read_until(stream, 5)
    stream.close()


def test_a_server_that_is_not_there_is_told() -> None:
    config = {"database.hostname": "127.0.0.1", "database.port": "1", "database.user": "u"}
    stream = BinlogStream(MariaDbServer(config), BinlogPosition("f", 4), 0.1)
    with pytest.raises(RetriableConnectError, match="Can't connect"):
        read_until(stream, 1)
    stream.close()
