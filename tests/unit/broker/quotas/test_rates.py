"""Rates: how much passes, and how long who has had more must wait, to the millisecond."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.broker.quotas import rates as source
from moldau.broker.quotas.rates import Windows
from moldau.runtime import native

MB = 1_000_000
REQUEST_BYTES = 500_130
EVERY_SECOND = Windows()


@pytest.fixture(params=["source", "compiled"])
def rates(request: pytest.FixtureRequest) -> Any:
    if request.param == "source":
        return source
    return pytest.importorskip("moldau.broker.quotas._rates")


def sensor(rates: Any, quota: float = MB) -> Any:
    return rates.Sensor(quota, EVERY_SECOND, 0)


# Requests of 500,130 bytes at 1 MB/s, which ignore that they are to wait: when each arrived, in
# milliseconds, and what Kafka told. Each came after the wait of the one before, and a round trip.
MEASURED = [
    *((number * 475 // 20, 0) for number in range(20)),
    *((475, 28), (526, 477), (1026, 1477), (2506, 1497), (4007, 2496), (6507, 2496), (9007, 3497)),
]


def test_a_producer_waits_as_it_was_measured_with_apache_kafka(rates: Any) -> None:
    one = sensor(rates)
    told = [(at_ms, one.record(REQUEST_BYTES, 7_000 + at_ms)) for at_ms, _ in MEASURED]
    assert told == MEASURED
    # The first seconds have fallen out: 8 MB pass again at once.
    passed = REQUEST_BYTES
    while one.record(REQUEST_BYTES, 7_000 + 12_507) == 0:
        passed += REQUEST_BYTES
    assert 7.9 * MB < passed < 8.1 * MB


def test_a_consumer_waits_as_it_was_measured_with_apache_kafka(rates: Any) -> None:
    one = sensor(rates)
    answer = 10 * MB + 110

    def asks(at_ms: int) -> int:
        throttle_ms: int = one.record(answer, at_ms)
        if throttle_ms:
            one.take_back(answer, at_ms)
        return throttle_ms

    assert asks(0) == 0
    assert asks(480) == 9520
    assert asks(480 + 9520 + 31) == 9969
    assert asks(480 + 9520 + 31 + 9969) == 0


def test_ten_seconds_worth_pass_at_once(rates: Any) -> None:
    one = sensor(rates, quota=100)
    assert one.record(1000, 50) == 0
    assert one.record(1, 50) == 10
    assert one.record(499, 50) == 5000


def test_the_longest_wait_has_no_limit(rates: Any) -> None:
    assert sensor(rates, quota=1).record(3_600_010, 0) == 3_600_000_000


def test_a_sample_counts_until_eleven_seconds_after_its_last_record(rates: Any) -> None:
    rate = rates.SampledRate(EVERY_SECOND)
    rate.record(1100, 0)
    rate.record(0, 900)
    assert rate.per_second(11_899) > 0
    assert rate.per_second(11_900) == 0


def test_the_time_of_a_rate_begins_with_its_oldest_sample(rates: Any) -> None:
    rate = rates.SampledRate(EVERY_SECOND)
    for second in range(14):
        rate.record(100, second * 1000)
    # At 13 s the samples of 3 s to 13 s are kept.
    assert rate.span_ms(13_000) == 10_000
    assert rate.per_second(13_000) == pytest.approx(110)
    assert rate.span_ms(13_400) == 10_400


def test_a_rate_that_has_only_begun_is_taken_over_ten_samples_and_a_part(rates: Any) -> None:
    rate = rates.SampledRate(EVERY_SECOND)
    rate.record(1, 5_000)
    assert rate.span_ms(5_000) == 10_000
    assert rate.span_ms(5_999) == 10_999
    assert rate.span_ms(6_000) == 10_000
    assert rate.span_ms(15_250) == 10_250


def test_with_one_window_there_is_always_a_time(rates: Any) -> None:
    rate = rates.SampledRate(Windows(1, 1000))
    rate.record(1, 5_000)
    assert rate.span_ms(5_000) == 1


def test_what_is_taken_back_was_not_used(rates: Any) -> None:
    one = sensor(rates, quota=100)
    one.record(1000, 0)
    assert one.record(700, 0) > 0
    one.take_back(700, 0)
    assert one.rate.per_second(0) == 100
    assert one.record(0, 0) == 0


def test_a_new_quota_is_held_against_what_was_used_before(rates: Any) -> None:
    one = sensor(rates, quota=1000)
    assert one.record(5000, 0) == 0
    one.quota = 100
    assert one.record(0, 0) == 40_000
    one.quota = 1000
    assert one.record(0, 0) == 0


def test_the_last_wait_is_remembered_for_the_metrics(rates: Any) -> None:
    one = sensor(rates, quota=100)
    one.record(2000, 7)
    one.record(-1500, 8)
    assert (one.last_throttle_ms, one.last_throttled_ms, one.used_ms) == (10_000, 7, 8)


STEPS = st.lists(st.tuples(st.integers(0, 3000), st.integers(-50, 400)), max_size=60)


@given(steps=STEPS)
def test_both_forms_agree_and_follow_the_definition(steps: list[tuple[int, int]]) -> None:
    compiled = native.kernel("moldau.broker.quotas._rates", "moldau.broker.quotas.rates")
    forms = [source.Sensor(30, EVERY_SECOND, 0), compiled.Sensor(30, EVERY_SECOND, 0)]
    defined = Defined(30)
    now_ms = 0
    for later_ms, value in steps:
        now_ms += later_ms
        expected = defined.record(value, now_ms)
        assert [one.record(value, now_ms) for one in forms] == [expected, expected]


class Defined:
    """The same as Kafka's classes have it: a ring of twelve samples, emptied when they are old."""

    def __init__(self, quota: float) -> None:
        self.quota = quota
        self.ring: list[list[float]] = []
        self.current = 0

    def record(self, value: float, now_ms: int) -> int:
        if not self.ring:
            self.ring.append([now_ms, now_ms, 0.0])
        if now_ms - self.ring[self.current][0] >= 1000:
            self.current = (self.current + 1) % 12
            if self.current == len(self.ring):
                self.ring.append([now_ms, now_ms, 0.0])
            else:
                self.ring[self.current] = [now_ms, now_ms, 0.0]
        self.ring[self.current][2] += value
        self.ring[self.current][1] = now_ms
        for index, (_, last_ms, _) in enumerate(self.ring):
            if now_ms - last_ms >= 11_000:
                self.ring[index] = [now_ms, now_ms, 0.0]
        elapsed_ms = now_ms - min(began_ms for began_ms, _, _ in self.ring)
        full = elapsed_ms // 1000
        if full < 10:
            elapsed_ms += (10 - full) * 1000
        rate = sum(sample[2] for sample in self.ring) * 1000 / max(elapsed_ms, 1)
        if rate <= self.quota:
            return 0
        return int((rate - self.quota) / self.quota * max(elapsed_ms, 1) + 0.5)
