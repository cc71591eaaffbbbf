"""No more than so many records per second."""

from moldau.cli.performance.pace import RecordPace


def test_records_wait_for_their_turn() -> None:
    now_s = 5.0
    pace = RecordPace(10, lambda: now_s)
    assert pace.wait_s(0) == 0
    assert pace.wait_s(20) == 2
    now_s = 8.0
    assert pace.wait_s(20) == 0


def test_without_a_rate_nothing_waits() -> None:
    assert RecordPace(-1, lambda: 0.0).wait_s(10**9) == 0
