"""Pauses before an address is tried again."""

from moldau.client.connection.addresses import Address
from moldau.client.connection.reconnecting import Reconnecting
from moldau.client.settings import ClientSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.random import SystemRandom

REFUSED = KafkaError(ErrorCode.NETWORK_EXCEPTION, "refused")
HERE, THERE = Address("here", 1), Address("there", 1)


def test_pauses_double_up_to_the_most_and_end_with_success() -> None:
    settings = ClientSettings(
        bootstrap_servers="a:1", reconnect_backoff_ms=100, reconnect_backoff_max_ms=1_000
    )
    reconnecting = Reconnecting(settings, SystemRandom())
    assert reconnecting.not_before_ms(HERE) == 0
    for pause_ms in (100, 200, 400, 800, 1_000, 1_000):
        reconnecting.failed(HERE, REFUSED, now_ms=5_000)
        assert pause_ms * 0.8 <= reconnecting.not_before_ms(HERE) - 5_000 <= pause_ms * 1.2
    assert reconnecting.not_before_ms(THERE) == 0
    assert reconnecting.last_error(HERE) == REFUSED
    reconnecting.succeeded(HERE)
    assert reconnecting.not_before_ms(HERE) == 0
    assert reconnecting.last_error(HERE) is None


def test_a_pause_is_never_shorter_than_the_first() -> None:
    settings = ClientSettings(
        bootstrap_servers="a:1", reconnect_backoff_ms=5_000, reconnect_backoff_max_ms=1_000
    )
    reconnecting = Reconnecting(settings, SystemRandom())
    for _ in range(100):
        reconnecting.failed(HERE, REFUSED, now_ms=0)
    assert reconnecting.not_before_ms(HERE) >= 4_000
