"""The system clocks tell milliseconds."""

import time

from moldau.runtime.clock import Moment, SystemClock


def test_now_is_wall_clock_time_in_milliseconds() -> None:
    before = int(time.time() * 1000)
    assert before - 1 <= SystemClock().now_ms() <= before + 60_000


def test_the_monotonic_clock_does_not_go_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic_ms() for _ in range(100)]
    assert readings == sorted(readings)


def test_a_moment_is_now_by_both_clocks() -> None:
    clock = SystemClock()
    before = clock.monotonic_ms()
    moment = Moment.of(clock)
    assert before <= moment.monotonic_ms <= clock.monotonic_ms()
    assert abs(moment.wall_ms - clock.now_ms()) < 60_000
