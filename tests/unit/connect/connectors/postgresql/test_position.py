"""What was stored is known again after a restart, from our offsets and from Java's."""

import pytest

from moldau.connect.connectors.postgresql.position import (
    LogPosition,
    LogProgress,
    Standing,
    snapshot_offset,
    stored_offset,
    visible_transactions,
)
from moldau.connect.errors import ConnectError

JAVA = {"ts_usec": 5, "txId": 3, "lsn": 120, "lsn_proc": 120, "lsn_commit": 90}


def test_transactions_that_a_snapshot_shows() -> None:
    found = visible_transactions("100:105:101,103", 7)
    assert [xid for xid in range(98, 107) if found.has(xid)] == [98, 99, 100, 102, 104]
    wrapped = visible_transactions(f"{2**32 - 1}:{2**32 + 2}:{2**32}", 7)
    assert [wrapped.has(xid) for xid in (2**32 - 2, 2**32 - 1, 0, 1, 2)] == [
        *(True, True, False, True, False)
    ]
    below = visible_transactions(f"{2**32 - 1}:{2**32 - 1}:", 7)
    assert [below.has(xid) for xid in (2**32 - 2, 0, 5)] == [True, False, False]
    with pytest.raises(ConnectError, match="no snapshot"):
        visible_transactions("1:2", 0)


def test_a_commit_is_passed_once() -> None:
    progress = LogProgress(stored_offset({"lsn_proc": 100, "lsn_commit": 100}).position)
    progress.begin(95, 7, 0)
    assert progress.is_seen
    assert progress.change(90) is Standing.STORED
    progress.commit(100)
    progress.begin(100, 8, 5_000_000)
    assert progress.change(60) is Standing.NEW  # it began before, and commits after
    progress.commit(130)
    assert progress.offset(is_within=False) == {
        "ts_usec": 5_000_000,
        "txId": 8,
        "lsn": 130,
        "lsn_proc": 130,
        "lsn_commit": 130,
        "messageType": "COMMIT",
    }


def test_a_transaction_that_is_stored_in_part_goes_on_with_the_change_after_it() -> None:
    progress = LogProgress(LogPosition(90))
    progress.begin(200, 8, 0)
    assert [progress.change(lsn) for lsn in (110, 110)] == [Standing.NEW] * 2
    offset = progress.offset(is_within=True)
    assert (offset["lsn_proc"], offset["messageType"]) == (110, "INSERT")
    again = LogProgress(stored_offset(offset).position)
    again.begin(200, 8, 0)
    assert [again.change(lsn) for lsn in (110, 110, 110)] == [
        *(Standing.STORED, Standing.STORED, Standing.NEW)
    ]
    other = LogProgress(stored_offset(offset).position)
    other.begin(150, 9, 0)  # cannot be: commits are in order
    assert other.change(110) is Standing.NEW


def test_javas_offset_names_the_last_change() -> None:
    progress = LogProgress(stored_offset({**JAVA, "messageType": "UPDATE"}).position)
    progress.begin(150, 4, 0)
    assert [progress.change(lsn) for lsn in (100, 120, 121)] == [
        *(Standing.STORED, Standing.UNCERTAIN, Standing.NEW)
    ]
    progress.commit(160)
    progress.begin(170, 5, 0)
    assert progress.change(110) is Standing.NEW


def test_javas_offset_after_a_commit_names_that() -> None:
    progress = LogProgress(stored_offset({**JAVA, "messageType": "COMMIT"}).position)
    progress.begin(150, 4, 0)
    assert progress.change(100) is Standing.NEW
    assert stored_offset({"lsn": 50}).position == LogPosition(50)


def test_what_a_snapshot_shows_is_left_out_until_the_log_has_passed_it() -> None:
    visible = visible_transactions("10:12:11", 300)
    offset = snapshot_offset({"lsn": 250}, {"other": 1}, visible, is_complete=True)
    stored = stored_offset(offset)
    assert stored.is_snapshot_complete
    assert stored.position.visible == visible
    progress = LogProgress(stored.position)
    progress.begin(200, 9, 0)
    assert progress.change(1) is Standing.STORED
    progress.commit(210)
    assert "moldau_snapshot" in progress.offset(is_within=False)
    progress.begin(220, 11, 0)
    assert progress.change(1) is Standing.NEW
    progress.commit(301)
    assert "moldau_snapshot" not in progress.offset(is_within=False)


def test_a_snapshot_that_was_cut_short_is_known() -> None:
    before = {**JAVA, "messageType": "UPDATE"}
    offset = snapshot_offset({"lsn": 250, "ts_usec": 1}, before, None, is_complete=False)
    assert offset == {
        "lsn_proc": 120,
        "lsn_commit": 90,
        "messageType": "UPDATE",
        "lsn": 250,
        "ts_usec": 1,
        "snapshot": "INITIAL",
        "last_snapshot_record": False,
        "snapshot_completed": False,
    }
    stored = stored_offset(offset)
    assert not stored.is_snapshot_complete
    assert stored.position == LogPosition(90, last_change_lsn=120)
    # Java's older ones: true, and the last record.
    assert stored_offset({"lsn": 1, "snapshot": True, "last_snapshot_record": True}) == (
        stored_offset({"lsn": 1, "snapshot": "INITIAL", "snapshot_completed": True})
    )


@pytest.mark.parametrize("offset", [{}, {"lsn": "x"}, {"lsn": True}, {"file": 5}])
def test_what_is_no_offset_is_refused(offset: dict[str, object]) -> None:
    with pytest.raises(ConnectError, match="no offset of this connector"):
        stored_offset(offset)
