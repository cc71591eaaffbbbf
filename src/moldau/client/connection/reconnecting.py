"""When an address may be tried again that could not be connected to."""

from moldau.client.connection.addresses import Address
from moldau.client.settings import ClientSettings
from moldau.errors import KafkaError
from moldau.runtime.random import Random

_JITTER_PERCENT = 20
_DOUBLINGS_MAX = 30


class Reconnecting:
    """Each failure doubles the pause, from `reconnect.backoff.ms` up to its maximum (KIP-144)."""

    def __init__(self, settings: ClientSettings, random: Random) -> None:
        self._first_ms = settings.reconnect_backoff_ms
        self._max_ms = max(settings.reconnect_backoff_max_ms, self._first_ms)
        self._random = random
        self._failures: dict[Address, int] = {}
        self._not_before_ms: dict[Address, int] = {}
        self._errors: dict[Address, KafkaError] = {}

    def not_before_ms(self, address: Address) -> int:
        """The time of the next try; 0 if nothing has failed."""
        return self._not_before_ms.get(address, 0)

    def last_error(self, address: Address) -> KafkaError | None:
        """Why there was no connection."""
        return self._errors.get(address)

    def failed(self, address: Address, error: KafkaError, *, now_ms: int) -> None:
        """There was no connection; the pauses of several clients are not the same."""
        self._errors[address] = error
        count = self._failures.get(address, 0)
        self._failures[address] = min(count + 1, _DOUBLINGS_MAX)
        pause_ms = min(self._first_ms << count, self._max_ms)
        percent = 100 - _JITTER_PERCENT + self._random.below(2 * _JITTER_PERCENT + 1)
        self._not_before_ms[address] = now_ms + pause_ms * percent // 100

    def succeeded(self, address: Address) -> None:
        """There is a connection."""
        self._failures.pop(address, None)
        self._not_before_ms.pop(address, None)
        self._errors.pop(address, None)
