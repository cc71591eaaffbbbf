"""Work in the background at a given speed."""

import pytest

from moldau.log.pace import Cancelled, Pace, unhurried


class Clock:
    """Time that passes when someone sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


def pace_of(clock: Clock, bytes_per_second: float) -> Pace:
    return Pace(
        bytes_per_second, now_s=lambda: clock.now_s, sleep=clock.sleep, is_cancelled=lambda: False
    )


def test_a_worker_that_is_too_fast_waits() -> None:
    clock = Clock()
    pace = pace_of(clock, 1000)

    for _ in range(10):
        pace.moved(500)

    assert clock.now_s == pytest.approx(105)


def test_a_worker_that_is_slow_enough_does_not_wait() -> None:
    clock = Clock()
    pace = pace_of(clock, 1000)

    for _ in range(10):
        clock.now_s += 0.6
        pace.moved(500)

    assert clock.slept == []


def test_a_long_pause_does_not_allow_a_long_burst() -> None:
    clock = Clock()
    pace = pace_of(clock, 1000)
    clock.now_s += 3600
    pace.moved(1)
    start = clock.now_s

    for _ in range(10):
        pace.moved(1000)

    assert clock.now_s - start >= 8


def test_whoever_is_not_wanted_any_more_stops() -> None:
    pace = Pace(1e9, now_s=lambda: 0.0, sleep=lambda _: None, is_cancelled=lambda: True)

    with pytest.raises(Cancelled):
        pace.moved(1)


def test_without_a_limit_nobody_waits() -> None:
    unhurried().moved(1 << 40)
