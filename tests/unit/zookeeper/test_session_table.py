"""Sessions that live, come back and expire."""

from moldau.coordination.nodes import SessionRow
from moldau.zookeeper.session_table import SessionBounds, SessionTable


def test_a_client_gets_a_timeout_within_bounds() -> None:
    bounds = SessionBounds(1_000, 5_000)
    assert [bounds.within(each) for each in (1, 3_000, 9_000)] == [1_000, 3_000, 5_000]


def test_a_session_expires_when_nothing_was_heard_for_its_time() -> None:
    table = SessionTable([], 7, now_ms=0)
    row = table.begin(1_000, now_ms=0)
    assert (row.session_id, len(row.password), len(table)) == (7, 16, 1)
    table.touch(7, now_ms=600)
    assert table.expired(1_599) == []
    assert table.expired(1_600) == [7]
    table.end(7)
    assert 7 not in table
    assert table.expired(9_999) == []


def test_only_who_has_the_password_goes_on_with_a_session() -> None:
    table = SessionTable([], 1, now_ms=0)
    row = table.begin(1_000, now_ms=0)
    assert table.resume(1, b"x" * 16, 2_000, now_ms=900) is None
    assert table.expired(1_000) == [1]
    assert table.resume(1, row.password, 2_000, now_ms=900) == 2_000
    assert table.expired(2_899) == []
    assert table.resume(2, row.password, 2_000, now_ms=900) is None


def test_a_session_of_before_a_restart_has_its_whole_time_to_come_back() -> None:
    table = SessionTable([SessionRow(3, b"p" * 16, 1_000)], 4, now_ms=50_000)
    assert table.expired(50_999) == []
    assert table.expired(51_000) == [3]
    assert table.begin(1_000, now_ms=0).session_id == 4


def test_nothing_is_heard_from_a_session_that_is_over() -> None:
    table = SessionTable([], 1, now_ms=0)
    table.touch(5, now_ms=0)
    assert 5 not in table
