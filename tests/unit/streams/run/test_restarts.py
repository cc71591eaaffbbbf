"""A query that fails again and again waits longer and longer."""

from moldau.streams.run.restarts import DELAY_MAX_MS, Restarts


def test_the_first_start_is_at_once() -> None:
    assert Restarts().is_due(0)


def test_delays_double_up_to_a_minute() -> None:
    restarts = Restarts()
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
