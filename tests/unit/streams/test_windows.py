"""Windows say what they cannot be."""

from datetime import timedelta

import pytest

from moldau.streams.windows import SessionWindows, SlidingWindows, TimeWindows


def test_a_tumbling_window_advances_by_its_size() -> None:
    windows = TimeWindows.of_size_and_grace(timedelta(minutes=1), timedelta(seconds=5))
    assert (windows.size_ms, windows.advance_ms, windows.grace_ms) == (60_000, 60_000, 5_000)


def test_a_hopping_window_advances_by_less() -> None:
    windows = TimeWindows.of_size_with_no_grace(60_000).advance_by(timedelta(seconds=10))
    assert (windows.advance_ms, windows.grace_ms) == (10_000, 0)
    with pytest.raises(ValueError, match="more than the size of a window"):
        windows.advance_by(60_001)


@pytest.mark.parametrize("size", [0, -1, timedelta(microseconds=999)])
def test_a_window_has_a_size(size: int | timedelta) -> None:
    with pytest.raises(ValueError, match="the size of a window must be at least 1 ms"):
        TimeWindows.of_size_with_no_grace(size)


def test_a_sliding_window_may_be_one_moment() -> None:
    assert SlidingWindows.of_time_difference_with_no_grace(0).time_difference_ms == 0
    with pytest.raises(ValueError, match="the grace period must be at least 0 ms"):
        SlidingWindows.of_time_difference_and_grace(5, -1)


def test_a_session_has_a_gap() -> None:
    assert SessionWindows.of_inactivity_gap_with_no_grace(5).gap_ms == 5
    with pytest.raises(ValueError, match="the gap between sessions"):
        SessionWindows.of_inactivity_gap_and_grace(0, 5)
