"""The bucket of changes: full at first, overdrawn once, filled at the quota's pace."""

from moldau.broker.quotas.rates import Windows
from moldau.broker.quotas.token_bucket import TokenBucket


def bucket(quota: float = 1) -> TokenBucket:
    return TokenBucket(quota, Windows(), 0)


def test_it_begins_with_what_all_windows_allow_together() -> None:
    assert bucket(2).tokens(0) == 22


def test_it_holds_no_more_than_that_however_long_nothing_is_taken() -> None:
    one = bucket()
    one.take(1, 0)
    assert one.tokens(999_000) == 11


def test_the_last_change_may_take_more_than_there_is() -> None:
    one = bucket()
    for _ in range(2):
        assert one.wait_ms(0) == 0
        one.take(4, 0)
    assert one.wait_ms(0) == 0
    one.take(5, 0)
    assert one.wait_ms(0) == 2_000


def test_the_wait_is_over_when_there_is_not_less_than_nothing() -> None:
    """As measured: 1 a second, and 1,882 ms to wait for what is missing."""
    one = bucket()
    one.take(13, 0)
    assert one.wait_ms(118) == 1_882
    assert one.wait_ms(1_999) == 1
    assert one.wait_ms(2_000) == 0
    assert (one.last_throttle_ms, one.last_throttled_ms) == (1, 1_999)


def test_another_quota_changes_the_pace_and_the_size() -> None:
    one = bucket()
    one.take(11, 0)
    one.quota = 4
    assert one.tokens(1_000) == 4
    assert one.tokens(999_000) == 44
