"""How many connections an address may open per second (KIP-612)."""

from ipaddress import ip_address
from typing import TYPE_CHECKING

from moldau.broker.quotas.precedence import ABSENT, HeldQuota
from moldau.broker.quotas.rates import Windows
from moldau.broker.quotas.sensors import Sensors
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.quotas.rates import Sensor
else:
    Sensor = native.kernel("moldau.broker.quotas._rates", "moldau.broker.quotas.rates").Sensor


class ConnectionRates:
    """The quotas of addresses, and the connections of each lately."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._quotas: dict[str, int] = {}
        self._default: int | None = None
        self._sensors: Sensors[Sensor] = Sensors(
            lambda quota, now_ms: Sensor(quota, windows, now_ms), lambda: None
        )

    def put(self, address: str | None, quota: int | None) -> None:
        """Set, or take away, the quota of an address; None is that of all without their own."""
        if address is None:
            self._default = quota
        elif quota is None:
            self._quotas.pop(_spelled(address), None)
        else:
            self._quotas[_spelled(address)] = quota

    def delay_s(self, address: str, now_s: float) -> float:
        """Count a new connection; if it is one too many, for how long it is kept waiting.

        It is closed then, and does not count.
        """
        if self._default is None and not self._quotas:
            return 0.0
        quota = self._quotas.get(_spelled(address), self._default)
        if quota is None:
            return 0.0
        window_ms = self._windows.size_ms
        if quota == 0:
            return window_ms / 1000
        now_ms = int(now_s * 1000)
        sensor = self._sensors.of(HeldQuota(quota, (address, ABSENT)), now_ms)
        throttle_ms = sensor.record(1, now_ms)
        if throttle_ms <= 0:
            return 0.0
        sensor.take_back(1, now_ms)
        return min(throttle_ms, window_ms) / 1000


def _spelled(address: str) -> str:
    """An address in one of the ways that it can be written."""
    try:
        return str(ip_address(address))
    except ValueError:
        return address
