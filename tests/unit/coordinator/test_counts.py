"""What is counted for metrics."""

from moldau.coordinator.counts import LoadTimes


def test_load_times_have_a_longest_and_an_average() -> None:
    times = LoadTimes()
    assert (times.max_ms, times.average_ms) == (0, 0)
    for duration_ms in (10, 40, 10):
        times.note(duration_ms)
    assert (times.max_ms, times.average_ms) == (40, 20)
