"""Windows of joins reach from before a record to after it."""

from datetime import timedelta

import pytest

from moldau.streams.join_windows import JoinWindows


def test_a_window_reaches_as_far_back_as_forth_unless_told_otherwise() -> None:
    windows = JoinWindows.of_time_difference_and_grace(timedelta(seconds=10), 5)
    assert windows == JoinWindows(before_ms=10_000, after_ms=10_000, grace_ms=5)
    assert windows.before(0).after(3) == JoinWindows(before_ms=0, after_ms=3, grace_ms=5)
    assert JoinWindows.of_time_difference_with_no_grace(1).grace_ms == 0


def test_a_window_may_lie_wholly_on_one_side() -> None:
    windows = JoinWindows.of_time_difference_with_no_grace(10).before(-3)
    assert (windows.before_ms, windows.after_ms) == (-3, 10)


def test_a_window_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match="end before it begins"):
        JoinWindows.of_time_difference_with_no_grace(10).after(-11)


def test_lateness_is_grace_and_the_longer_way() -> None:
    windows = JoinWindows.of_time_difference_and_grace(10, 5)
    assert windows.after(30).lateness_ms == 35
    assert windows.before(-5).after(5).lateness_ms == 10
