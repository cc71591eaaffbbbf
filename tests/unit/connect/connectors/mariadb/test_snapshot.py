"""Tables are read as they were at one moment."""

import logging

import pytest

from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.snapshot import ConsistentRead, quoted, snapshot_position
from unit.connect.connectors.mariadb.databases import Database

pytestmark = pytest.mark.needs("mariadbd")


@pytest.mark.parametrize("locking", ["minimal", "extended", "none"])
def test_rows_are_those_of_the_moment_table_by_table(database: Database, locking: str) -> None:
    database.run(
        "CREATE TABLE a (id int PRIMARY KEY, v varchar(20), f float, b varbinary(5), x bit(3))",
        "CREATE TABLE b (i int)",
        "CREATE TABLE `c``d` (i int)",
        "INSERT INTO a VALUES (1, 'tab\\t\\\\', 0.1, 'a\\0', 5), (2, NULL, 16777215, NULL, NULL)",
        "INSERT INTO `c``d` VALUES (7)",
    )
    capture = database.capture()
    snapshot = ConsistentRead(capture.server, capture.facts, locking)
    position = snapshot.position
    assert position.gtids is not None
    assert position.gtids.text == database.gtid()
    if locking != "extended":
        database.run("INSERT INTO a (id, v) VALUES (4, 'later')")
    found = list(snapshot.rows(capture.tables(), capture.table))
    assert [(each.table.name.name, each.cells) for each in found] == [
        ("a", ["1", "tab\t\\", "0.10000000149011612", "6100", "101"]),
        ("a", ["2", None, "16777215", None, None]),
        ("c`d", ["7"]),
    ]
    snapshot.close()
    database.run("INSERT INTO b VALUES (1)")  # the lock is gone
    capture.close()


def test_a_table_without_transactions_is_warned_of(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.run("CREATE TABLE m (i int) ENGINE=MyISAM", "INSERT INTO m VALUES (1)")
    capture = database.capture()
    for locking, count in (("minimal", 1), ("extended", 0)):
        caplog.clear()
        snapshot = ConsistentRead(capture.server, capture.facts, locking)
        with caplog.at_level(logging.WARNING):
            assert len(list(snapshot.rows(capture.tables(), capture.table))) == 1
        assert len(caplog.messages) == count
        snapshot.close()
    capture.close()


def test_the_place_of_now_is_behind_all_that_is_written(database: Database) -> None:
    capture = database.capture()
    before = snapshot_position(capture.server, capture.connection, capture.facts)
    database.run("CREATE TABLE t (i int)")
    after = snapshot_position(capture.server, capture.connection, capture.facts)
    assert isinstance(after, BinlogPosition)
    assert (before.file, before.pos) < (after.file, after.pos)
    assert after.gtids is not None
    assert after.gtids.text == database.gtid()
    assert quoted("a`b") == "`a``b`"
    capture.close()
