"""How a capture begins; what follows is in test_source.py."""

import pytest

from moldau.connect.connectors.postgresql.start import begin_capture
from moldau.connect.errors import RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

pytestmark = pytest.mark.needs("postgres")
COMPLETE = {"lsn": 5, "lsn_proc": 5, "lsn_commit": 5, "messageType": "COMMIT"}


def test_a_new_slot_and_its_tables(database: Database) -> None:
    database.run("CREATE TABLE t (i integer)")
    capture = database.capture()
    start = begin_capture(capture, None)
    assert start.read is not None
    assert start.streams
    assert start.position.commit_lsn == database.slot()[1]
    assert start.position.visible is None
    start.read.close()
    again = begin_capture(capture, COMPLETE)
    assert (again.read, again.position.commit_lsn) == (None, 5)
    # Nothing was stored as yet: the tables are read anew, and the stream leaves out what they show.
    later = begin_capture(capture, None)
    assert later.read is not None
    assert later.position.visible is not None
    later.read.close()
    partial = begin_capture(capture, {"lsn": 5, "lsn_commit": 5, "snapshot": "INITIAL"})
    assert partial.read is not None
    assert (partial.position.visible, partial.position.commit_lsn) == (None, 5)
    partial.read.close()
    capture.close()


def test_what_fails_leaves_nothing_open(database: Database) -> None:
    database.run("CREATE TABLE t (i integer)", "INSERT INTO t VALUES (1)")
    database.run("CREATE ROLE reader_of_nothing REPLICATION LOGIN")
    database.run("CREATE PUBLICATION dbz_publication FOR ALL TABLES")
    capture = database.capture(database_user="reader_of_nothing")
    for _ in range(2):  # with a slot that is new, and with one that is there
        with pytest.raises(RetriableConnectError, match="permission denied for table t"):
            begin_capture(capture, None)
    capture.close()
    database.run("DROP ROLE reader_of_nothing")
    assert database.rows(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader_of_nothing'"
    ) == [(0,)]
