"""Connections by address: how many pass, and how long the others are kept waiting."""

from moldau.broker.quotas.connection_rates import ConnectionRates
from moldau.broker.quotas.rates import Windows


def rates() -> ConnectionRates:
    return ConnectionRates(Windows())


def test_without_a_quota_all_pass() -> None:
    assert all(rates().delay_s("10.0.0.1", 0) == 0 for _ in range(1000))


def test_ten_seconds_worth_pass_and_the_next_waits_and_does_not_count() -> None:
    one = rates()
    one.put("10.0.0.1", 2)
    assert [one.delay_s("10.0.0.1", 0) for _ in range(20)] == [0.0] * 20
    assert one.delay_s("10.0.0.1", 0) == 0.5
    assert one.delay_s("10.0.0.1", 0) == 0.5
    assert one.delay_s("10.0.0.1", 0.6) == 0


def test_nobody_is_kept_for_longer_than_a_window() -> None:
    one = rates()
    one.put("10.0.0.1", 1)
    for _ in range(10):
        one.delay_s("10.0.0.1", 0)
    one.put("10.0.0.1", 1)
    assert one.delay_s("10.0.0.1", 0) == 1.0


def test_the_quota_of_an_address_goes_before_that_of_all() -> None:
    one = rates()
    one.put(None, 1)
    one.put("10.0.0.1", 1000)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        for _ in range(10):
            assert one.delay_s(address, 0) == 0
    assert [one.delay_s(f"10.0.0.{n}", 0) > 0 for n in (1, 2, 3)] == [False, True, True]
    one.put("10.0.0.1", None)
    one.put(None, None)
    assert one.delay_s("10.0.0.2", 0) == 0


def test_none_at_all_is_a_quota() -> None:
    one = rates()
    one.put("10.0.0.1", 0)
    assert one.delay_s("10.0.0.1", 0) == 1.0
    assert one.delay_s("10.0.0.2", 0) == 0


def test_an_address_may_be_written_in_several_ways() -> None:
    one = rates()
    one.put("0:0:0:0:0:0:0:1", 0)
    assert one.delay_s("::1", 0) == 1.0


def test_a_quota_that_is_taken_away_holds_nobody_up() -> None:
    one = rates()
    one.put("10.0.0.1", 0)
    one.put("10.0.0.2", 0)
    one.put("10.0.0.1", None)
    one.put("10.0.0.3", None)
    assert [one.delay_s(f"10.0.0.{n}", 0) for n in (1, 2, 3)] == [0.0, 1.0, 0.0]


def test_the_quota_of_all_holds_without_one_of_an_address() -> None:
    one = rates()
    one.put(None, 0)
    assert one.delay_s("10.0.0.1", 0) == 1.0


def test_what_is_no_address_has_a_quota_of_its_own() -> None:
    """Hosts that could not be resolved when their quota was read."""
    one = rates()
    one.put("a-host", 0)
    assert one.delay_s("a-host", 0) == 1.0
    assert one.delay_s("another-host", 0) == 0.0
