"""Batches of the stream; what a connector makes of them is in test_source.py."""

import logging
import time

import pytest

from moldau.connect.connectors.mariadb.events import GroupBegun, Idle
from moldau.connect.connectors.mariadb.log_reader import BinlogReader
from moldau.connect.connectors.mariadb.snapshot import snapshot_position
from unit.connect.connectors.mariadb.databases import Database

pytestmark = pytest.mark.needs("mariadbd")


def test_where_the_stream_begins_is_stored_at_once(database: Database) -> None:
    capture = database.capture()
    position = snapshot_position(capture.server, capture.connection, capture.facts)
    reader = BinlogReader(capture, position, None)
    batch = None
    deadline = time.monotonic() + 60
    while batch is None:
        assert time.monotonic() < deadline
        batch = reader.batch(10)
    assert (list(batch.records), batch.offset["pos"]) == ([], position.pos)
    assert not reader.is_due()
    reader.stored(batch.offset)
    assert not reader.is_due()
    reader.close()
    capture.close()


def test_a_reader_that_is_behind_is_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    capture = database.capture()
    position = snapshot_position(capture.server, capture.connection, capture.facts)
    reader = BinlogReader(capture, position, {"file": "f"})
    reader.take(GroupBegun("0-7-1", 4, int(time.time()) - 100, 7))
    with caplog.at_level(logging.WARNING):
        reader.watch()
    assert "s behind the log of MariaDB at " in caplog.text
    assert reader.measurements["log_behind_seconds"] >= 100
    reader.take(Idle())
    reader.watch()
    assert reader.measurements == {"log_behind_seconds": 0}
    reader.close()
    capture.close()
