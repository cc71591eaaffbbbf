"""How a capture begins; with tables and changes it is in test_source.py."""

import pytest

from moldau.connect.connectors.mariadb.gtids import gtids_of
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.start import begin_capture, gone_message
from moldau.connect.connectors.mariadb.stream import LogLostError
from unit.connect.connectors.mariadb.databases import Database


@pytest.mark.needs("mariadbd")
def test_an_offset_is_where_the_stream_goes_on(database: Database) -> None:
    database.run("CREATE TABLE t (i int)")
    capture = database.capture()
    begun = begin_capture(capture, None)
    assert begun.read is not None
    begun.read.batch(5)
    offset = begun.read.offset()
    later = begin_capture(capture, offset)
    assert (later.read, later.position, later.streams) == (None, begun.position, True)
    begun.read.close()
    capture.close()


def test_a_lost_log_is_told_with_its_place() -> None:
    position = BinlogPosition("binlog.1", 5, gtids_of("0-7-1"))
    assert "binlog.1:5 (GTID 0-7-1)" in gone_message(position, LogLostError("purged"))
    assert gone_message(BinlogPosition("f", 5), LogLostError("purged")).endswith("It said: purged")
