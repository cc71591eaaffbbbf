"""Offsets, and what is stored of a transaction."""

import logging

import pytest

from moldau.connect.connectors.mariadb.gtids import gtids_of
from moldau.connect.connectors.mariadb.position import (
    BinlogPosition,
    BinlogProgress,
    snapshot_offset,
    stored_offset,
)
from moldau.connect.errors import ConnectError

BEGIN = BinlogPosition("binlog.1", 100, gtids_of("0-7-5"))


def test_an_offset_names_the_end_of_the_last_transaction() -> None:
    progress = BinlogProgress(BEGIN, server_id=7)
    progress.begin("0-7-6", 100, 1_000)
    assert progress.event()
    progress.end(300)
    offset = progress.offset(is_within=False)
    assert offset == {
        "file": "binlog.1",
        "pos": 300,
        "gtids": "0-7-6",
        "ts_sec": 1_000,
        "server_id": 7,
    }
    stored = stored_offset(offset)
    assert stored.is_snapshot_complete
    assert stored.position == BinlogPosition("binlog.1", 300, gtids_of("0-7-6"))


@pytest.mark.parametrize("gtid", ["0-7-6", None])
def test_events_that_are_stored_do_not_come_again(gtid: str | None) -> None:
    start = BinlogPosition("binlog.1", 100, gtids_of("0-7-5") if gtid else None)
    progress = BinlogProgress(start)
    progress.begin(gtid, 100, 1_000)
    assert [progress.event() for _ in range(2)] == [True, True]
    offset = progress.offset(is_within=True)
    assert (offset["pos"], offset.get("gtids")) == (100, "0-7-5" if gtid else None)
    again = BinlogProgress(stored_offset(offset).position)
    again.begin(gtid, 100, 1_000)
    assert [again.event() for _ in range(3)] == [False, False, True]
    # Of a restart before all that is stored has come again, no less is stored.
    once_more = BinlogProgress(stored_offset(offset).position)
    once_more.begin(gtid, 100, 1_000)
    once_more.event()
    assert once_more.offset(is_within=True)["moldau_events"] == 2
    other = BinlogProgress(stored_offset(offset).position)
    other.begin("0-7-9", 500, 1_000)
    assert other.event()


def test_another_file_begins_at_its_place() -> None:
    progress = BinlogProgress(BEGIN)
    progress.file("binlog.1", 4)
    assert progress.position == BEGIN
    progress.file("binlog.2", 4)
    assert progress.position == BinlogPosition("binlog.2", 4, BEGIN.gtids)


def test_a_snapshot_says_whether_it_is_complete() -> None:
    for is_complete in (True, False):
        offset = snapshot_offset(BEGIN, 1_000, is_complete=is_complete)
        stored = stored_offset(offset)
        assert (stored.is_snapshot_complete, stored.position) == (is_complete, BEGIN)
    assert stored_offset({"file": "f", "pos": 4, "snapshot": True}).is_snapshot_complete is False


def test_javas_offset_within_a_transaction_begins_it_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    java = {"file": "f", "pos": 4, "gtids": "0-1-5", "event": 2, "row": 1, "ts_sec": 1}
    with caplog.at_level(logging.WARNING):
        assert stored_offset(java).position == BinlogPosition("f", 4, gtids_of("0-1-5"))
    assert "comes once more" in caplog.text


@pytest.mark.parametrize(
    "offset",
    [
        {"lsn": 5},
        {"file": "f", "pos": "4"},
        {"file": "f", "pos": 4, "gtids": 5},
        {"file": "f", "pos": 4, "gtids": "soon"},
        {"file": "f", "pos": 4, "moldau_events": "2"},
    ],
)
def test_what_is_no_offset_is_refused(offset: dict[str, object]) -> None:
    with pytest.raises(ConnectError, match="is no "):
        stored_offset(offset)
