"""What clients use of this broker, held against their quotas: how long each is to wait.

A client is answered at once, with the time that it is to wait; then nothing is read of its
connection for as long (KIP-219). Quotas are of this broker, not of the cluster. Where none is set,
requests look at `is_set` and at nothing else.
"""

import logging
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Generic

from moldau.broker.quotas.connection_rates import ConnectionRates
from moldau.broker.quotas.permits import Permits
from moldau.broker.quotas.precedence import QuotaLevels
from moldau.broker.quotas.rates import Windows
from moldau.broker.quotas.sensors import Kept, Sensors
from moldau.broker.quotas.token_bucket import TokenBucket
from moldau.config.broker.quotas import QuotaConfig
from moldau.config.client_quotas import ClientQuotas
from moldau.config.definition import settings_of
from moldau.errors import KafkaError
from moldau.runtime import native
from moldau.runtime.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from moldau.broker.context import Client, Context
    from moldau.broker.quotas.rates import SampledRate, Sensor
    from moldau.coordination.layout.configs import ConfigEntity
else:
    _rates = native.kernel("moldau.broker.quotas._rates", "moldau.broker.quotas.rates")
    Sensor, SampledRate = _rates.Sensor, _rates.SampledRate

_log = logging.getLogger(__name__)

PRODUCE, FETCH = "producer_byte_rate", "consumer_byte_rate"
REQUEST, MUTATION = "request_percentage", "controller_mutation_rate"

_PERCENT_PER_NS = 100 / 1e9
_BYTES_MAX = 2**31 - 1


class QuotaType(Generic[Kept]):
    """One type of quota: what is set, and what is used."""

    def __init__(self, make: "Callable[[float, int], Kept]", forgot: "Callable[[], None]") -> None:
        self.levels = QuotaLevels()
        self.sensors = Sensors(make, forgot)

    def of(self, user: str, client_id: str, now_ms: int) -> Kept | None:
        """The sensor that a client's use is recorded by; None if nothing limits it."""
        held = self.levels.find(user, client_id)
        if held is None or held.quota == inf:
            return None
        return self.sensors.of(held, now_ms)


class ClientSensors:
    """The sensors that the requests of a connection are recorded by: its last client id's."""

    __slots__ = ("client_id", "fetch", "generation", "principal", "produce", "request")

    def __init__(self, quotas: "Enforcement", client: "Client", client_id: str) -> None:
        user, now_ms = client.principal.name, quotas.clock.monotonic_ms()
        self.client_id = client_id
        self.principal = client.principal
        self.produce = quotas.produce.of(user, client_id, now_ms)
        self.fetch = quotas.fetch.of(user, client_id, now_ms)
        self.request = quotas.request.of(user, client_id, now_ms)
        # Last: to make room for a sensor may be to forget another.
        self.generation = quotas.generation


class Enforcement:
    """The quotas of users and clients, of all types."""

    def __init__(self, config: QuotaConfig, clock: Clock) -> None:
        self.is_set = False
        self.clock = clock
        self.generation = object()
        """Another one when a quota changes or a sensor is forgotten: what is kept of it is old."""
        windows = Windows(config.quota_window_num, config.quota_window_size_seconds * 1000)
        changes = Windows(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds * 1000
        )
        self._windows = windows
        self.connections = ConnectionRates(windows)
        self.produce = QuotaType(self._sensor, self._renew)
        self.fetch = QuotaType(self._sensor, self._renew)
        self.request = QuotaType(self._sensor, self._renew)
        self.mutation = QuotaType(
            lambda quota, now_ms: TokenBucket(quota, changes, now_ms), self._renew
        )
        self.exempt = SampledRate(windows)
        """Percent of the time that goes to requests which no quota holds for."""

    # What is set

    def apply(self, entity: "ConfigEntity", texts: Mapping[str, str]) -> None:
        """Let an entity have these quotas and no others, from now on."""
        types: dict[str, QuotaType[Sensor] | QuotaType[TokenBucket]] = {
            PRODUCE: self.produce,
            FETCH: self.fetch,
            REQUEST: self.request,
            MUTATION: self.mutation,
        }
        for name, kind in types.items():
            if kind.levels.put(entity, _quota(entity, name, texts.get(name))):
                self._renew()
        self.is_set = any(len(kind.levels) for kind in types.values())

    def _sensor(self, quota: float, now_ms: int) -> Sensor:
        return Sensor(quota, self._windows, now_ms)

    def _renew(self) -> None:
        self.generation = object()

    # What is used

    def _of(self, client: "Client", client_id: str) -> ClientSensors:
        known: ClientSensors | None = client.sensors
        if (
            known is None
            or known.generation is not self.generation
            or known.client_id != client_id
            or known.principal is not client.principal
        ):
            known = client.sensors = ClientSensors(self, client, client_id)
        return known

    def produced(self, client: "Client", client_id: str, size: int) -> int:
        """A request to produce has so many bytes; for how many milliseconds its client waits."""
        sensor = self._of(client, client_id).produce
        return 0 if sensor is None else sensor.record(size, self.clock.monotonic_ms())

    def fetched(self, client: "Client", client_id: str, size: int) -> int:
        """An answer would have so many bytes; 0, or for how long its client waits without them."""
        sensor = self._of(client, client_id).fetch
        if sensor is None:
            return 0
        now_ms = self.clock.monotonic_ms()
        was_silent = sensor.rate.per_second(now_ms) <= 0
        throttle_ms = sensor.record(size, now_ms)
        if throttle_ms > 0 and was_silent:
            return 0  # or one that is larger than can ever pass would hold its reader up for good
        if throttle_ms > 0:
            sensor.take_back(size, now_ms)
        return throttle_ms

    def fetch_bytes_max(self, client: "Client", client_id: str) -> int:
        """How much an answer may have so that it can pass at all, after a silence."""
        sensor = self._of(client, client_id).fetch
        if sensor is None:
            return _BYTES_MAX
        windows = self._windows
        return min(int(sensor.quota * (windows.samples - 1) * windows.size_ms / 1000), _BYTES_MAX)

    def charge(self, client: "Client", client_id: str, spent_ns: int, throttle_ms: int = 0) -> int:
        """A request took so much of the loop's time, and its client waits for other reasons.

        The longer wait counts. It begins now, and is for the answer to tell.
        """
        sensor = self._of(client, client_id).request
        if sensor is not None:
            own_ms = sensor.record(spent_ns * _PERCENT_PER_NS, self.clock.monotonic_ms())
            throttle_ms = max(throttle_ms, min(own_ms, self._windows.size_ms))
        if throttle_ms > 0:
            client.mute(throttle_ms)
        return throttle_ms

    def note_exempt(self, spent_ns: int) -> None:
        """A request of another broker took so much of the loop's time."""
        self.exempt.record(spent_ns * _PERCENT_PER_NS, self.clock.monotonic_ms())

    def permits(self, context: "Context", *, is_strict: bool) -> Permits:
        """What a request may change of topics."""
        bucket = None
        if self.is_set:
            user, now_ms = context.client.principal.name, self.clock.monotonic_ms()
            bucket = self.mutation.of(user, context.client_id, now_ms)
        return Permits(bucket, self.clock, is_strict=is_strict)


def _quota(entity: "ConfigEntity", name: str, text: str | None) -> float | None:
    """A quota as the tree has it; what another broker let through may be no quota at all."""
    if text is None:
        return None
    try:
        value = settings_of(ClientQuotas)[name].parse(text)
    except KafkaError as error:
        # Apache's brokers take 0, and throttle nobody by it.
        _log.warning("Ignored a quota of %s: %s", entity.entity_path, error)
        return inf
    assert isinstance(value, int | float)
    return float(value)
