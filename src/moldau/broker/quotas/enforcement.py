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
    from moldau.broker.quotas.client_sensors import ClientSensors, charge, sensors_of
    from moldau.broker.quotas.rates import SampledRate, Sensor
    from moldau.coordination.layout.configs import ConfigEntity
else:
    _rates = native.kernel("moldau.broker.quotas._rates", "moldau.broker.quotas.rates")
    Sensor, SampledRate = _rates.Sensor, _rates.SampledRate
    _sensors = native.kernel(
        "moldau.broker.quotas._client_sensors", "moldau.broker.quotas.client_sensors"
    )
    ClientSensors, charge, sensors_of = _sensors.ClientSensors, _sensors.charge, _sensors.sensors_of

_log = logging.getLogger(__name__)

PRODUCE, FETCH = "producer_byte_rate", "consumer_byte_rate"
REQUEST, MUTATION = "request_percentage", "controller_mutation_rate"

_PERCENT_PER_NS = 100 / 1e9


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

    def sensors_of(self, client: "Client", client_id: str) -> ClientSensors:
        """The sensors of a connection, found anew: `client_sensors.sensors_of` keeps them."""
        user, now_ms = client.principal.name, self.clock.monotonic_ms()
        sensors = (
            self.produce.of(user, client_id, now_ms),
            self.fetch.of(user, client_id, now_ms),
            self.request.of(user, client_id, now_ms),
        )
        # The generation last: to make room for a sensor may be to forget another.
        return ClientSensors(client.principal, client_id, self._windows, sensors, self.generation)

    def produced(self, client: "Client", client_id: str, size: int) -> int:
        """A request to produce has so many bytes; for how many milliseconds its client waits."""
        return sensors_of(self, client, client_id).produced(size, self.clock.monotonic_ms())

    def charge(self, client: "Client", client_id: str, spent_ns: int, throttle_ms: int = 0) -> int:
        """A request took so much of the loop's time: see `client_sensors.charge`."""
        sensors = sensors_of(self, client, client_id)
        return charge(client, sensors, spent_ns, self.clock.monotonic_ms(), throttle_ms)

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
