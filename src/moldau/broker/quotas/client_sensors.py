"""The sensors of one connection: what its requests use is recorded by them, and held against them.

Every request does this where quotas are set, and most stay far below. So this file runs as it
stands and is also compiled as `_client_sensors`, with the types of `_client_sensors.pxd`: the fast
paths call it without Python.
"""

from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.broker.quotas.rates import Sensor

if TYPE_CHECKING:
    from moldau.broker.context import Client
    from moldau.broker.quotas.enforcement import Enforcement
    from moldau.broker.quotas.rates import Windows
    from moldau.security.principals import Principal

PERCENT_PER_NS = 100 / 1e9
BYTES_MAX = 2**31 - 1


class ClientSensors:
    """Those of the client id that the connection used last; None where nothing limits it."""

    __slots__ = (
        "_burst_s", "_longest_ms", "client_id", "fetch", "generation", "principal", "produce",
        "request",
    )  # fmt: skip

    def __init__(
        self,
        principal: "Principal",
        client_id: str,
        windows: "Windows",
        sensors: "tuple[Sensor | None, Sensor | None, Sensor | None]",
        generation: object,
    ) -> None:
        """`sensors` are those for producing, fetching and time."""
        self.principal = principal
        self.client_id = client_id
        self.generation = generation
        self.produce, self.fetch, self.request = sensors
        self._burst_s = (windows.samples - 1) * windows.size_ms / 1000
        self._longest_ms = windows.size_ms

    def produced(self, size: int, now_ms: int) -> int:
        """A request to produce has so many bytes; for how many milliseconds its client waits."""
        sensor = self.produce
        return 0 if sensor is None else sensor.record(size, now_ms)

    def fetched(self, size: int, now_ms: int) -> int:
        """An answer would have so many bytes; 0, or for how long its client waits without them."""
        sensor = self.fetch
        if sensor is None:
            return 0
        was_silent = sensor.rate.per_second(now_ms) <= 0
        throttle_ms = sensor.record(size, now_ms)
        if throttle_ms > 0 and was_silent:
            return 0  # or one that is larger than can ever pass would hold its reader up for good
        if throttle_ms > 0:
            sensor.take_back(size, now_ms)
        return throttle_ms

    def fetch_bytes_max(self) -> int:
        """How much an answer may have so that it can pass at all, after a silence."""
        sensor = self.fetch
        if sensor is None:
            return BYTES_MAX
        allowed = sensor.quota * self._burst_s
        return int(allowed) if allowed < BYTES_MAX else BYTES_MAX

    def spent(self, spent_ns: int, now_ms: int, throttle_ms: int) -> int:
        """A request took so much of the loop's time; the longer of its wait and the given one."""
        sensor = self.request
        if sensor is None:
            return throttle_ms
        own_ms = sensor.record(spent_ns * PERCENT_PER_NS, now_ms)
        own_ms = min(own_ms, self._longest_ms)
        return own_ms if own_ms > throttle_ms else throttle_ms


def sensors_of(quotas: "Enforcement", client: "Client", client_id: str) -> ClientSensors:
    """The sensors that a connection had last, unless something about them has changed."""
    known = client.sensors
    if (
        known is None
        or known.generation is not quotas.generation
        or known.client_id != client_id
        or known.principal is not client.principal
    ):
        known = client.sensors = quotas.sensors_of(client, client_id)
    return known


def charge(
    client: "Client", sensors: ClientSensors, spent_ns: int, now_ms: int, throttle_ms: int
) -> int:
    """A request took so much of the loop's time, and its client waits for other reasons.

    The longer wait counts. It begins now, and goes into the answer.
    """
    throttle_ms = sensors.spent(spent_ns, now_ms, throttle_ms)
    if throttle_ms > 0:
        client.mute(throttle_ms)
    return throttle_ms
