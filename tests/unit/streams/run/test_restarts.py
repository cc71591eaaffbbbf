"""A query that fails again and again waits longer and longer, and is given up at last."""

from moldau.streams.run.restarts import DELAY_MAX_MS, RESTARTS_MAX, WINDOW_MS, Restarts


def test_the_first_start_is_at_once() -> None:
    assert Restarts().is_due(0)


def test_delays_double_up_to_a_minute() -> None:
    restarts = Restarts(restarts_max=40)
    delays = [restarts.note_failure(0) for _ in range(40)]
    assert delays[:4] == [1_000, 2_000, 4_000, 8_000]
    assert delays[-1] == DELAY_MAX_MS


def test_a_query_is_started_when_its_time_has_come() -> None:
    restarts = Restarts()
    assert restarts.note_failure(500) == 1_000
    assert not restarts.is_due(1_499)
    assert restarts.is_due(1_500)


def test_success_ends_the_row_of_failures() -> None:
    restarts = Restarts()
    restarts.note_failure(0)
    restarts.note_failure(0)
    restarts.note_success()
    assert restarts.note_failure(0) == 1_000


def test_a_query_is_given_up_when_it_fails_too_often_within_the_window() -> None:
    restarts = Restarts(restarts_max=2, window_ms=100)
    assert [restarts.note_failure(each) is None for each in (0, 50, 99)] == [False, False, True]
    restarts = Restarts(restarts_max=2, window_ms=100)
    assert [restarts.note_failure(each) is None for each in (0, 50, 100)] == [False] * 3


def test_by_default_a_query_that_fails_at_once_is_given_up_after_minutes() -> None:
    restarts, now_ms, count = Restarts(), 0, 0
    while (delay_ms := restarts.note_failure(now_ms)) is not None:
        now_ms, count = now_ms + delay_ms, count + 1
    assert count == RESTARTS_MAX
    assert now_ms < WINDOW_MS
