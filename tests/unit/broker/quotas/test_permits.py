"""Permits: refused where the client knows the error, waited for where it does not."""

import pytest

from moldau.broker.quotas.permits import Permits
from moldau.broker.quotas.rates import Windows
from moldau.broker.quotas.token_bucket import TokenBucket
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import SettableClock


def full(clock: SettableClock) -> TokenBucket:
    return TokenBucket(1, Windows(), clock.monotonic_ms())


def test_without_a_quota_everything_is_permitted() -> None:
    permits = Permits(None, SettableClock(), is_strict=True)
    permits.take(1_000_000)
    assert permits.throttle_ms == 0


def test_a_strict_request_may_overdraw_once_and_is_refused_then() -> None:
    clock = SettableClock()
    bucket = full(clock)
    permits = Permits(bucket, clock, is_strict=True)
    permits.take(13)
    assert permits.throttle_ms == 0
    with pytest.raises(KafkaError) as refused:
        permits.take(1)
    assert (refused.value.code, refused.value.message) == (
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        None,
    )
    assert permits.throttle_ms == 2_000
    assert bucket.tokens(clock.monotonic_ms()) == -2


def test_the_time_that_the_rest_of_a_request_takes_is_waited_already() -> None:
    clock = SettableClock()
    permits = Permits(full(clock), clock, is_strict=False)
    permits.take(13)
    clock.time_ms += 500
    assert permits.throttle_ms == 1_500
    clock.time_ms += 5_000
    assert permits.throttle_ms == 0


def test_an_older_request_is_never_refused_and_waits_longer() -> None:
    clock = SettableClock()
    permits = Permits(full(clock), clock, is_strict=False)
    permits.take(13)
    permits.take(10)
    assert permits.throttle_ms == 12_000
