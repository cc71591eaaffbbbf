"""What users and clients with a quota have used lately, and how long they were throttled.

Names are those of Kafka's own metrics. Clients choose their ids, so only some of them are shown.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from moldau.broker.quotas.enforcement import QuotaType
from moldau.broker.quotas.precedence import Holder
from moldau.broker.quotas.sensors import Kept
from moldau.broker.quotas.token_bucket import TokenBucket
from moldau.runtime.metrics import Labels

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.quotas.rates import Sensor

CLIENTS_MAX = 1_000
"""Of each type: those that were made last."""
_THROTTLE_KEPT_MS = 11_000


def register_quota_gauges(broker: "Broker") -> None:
    """Make rates and waits readable, by user and client id; an empty one is not looked at."""
    quotas, metrics, clock = broker.quotas, broker.metrics, broker.clock
    for kind, name, about in (
        (quotas.produce, "produce_byte_rate", "Bytes per second that were produced."),
        (quotas.fetch, "fetch_byte_rate", "Bytes per second that were fetched."),
        (quotas.request, "request_request_time", "Percent of the event loop's time."),
    ):

        def rate(sensor: "Sensor") -> float:
            return sensor.rate.per_second(clock.monotonic_ms())

        metrics.gauges(f"kafka_server_{name}", about, _each(broker, kind, rate))
        _register_throttle(broker, name.partition("_")[0], kind)

    def tokens(bucket: TokenBucket) -> float:
        return bucket.tokens(clock.monotonic_ms())

    about = "Partitions that may be created or deleted at once; below 0 none."
    each = _each(broker, quotas.mutation, tokens)
    metrics.gauges("kafka_server_controllermutation_tokens", about, each)
    _register_throttle(broker, "controllermutation", quotas.mutation)
    metrics.gauge(
        "kafka_server_request_exempt_request_time",
        "Percent of the event loop's time for requests of brokers, while quotas are set.",
        lambda: quotas.exempt.per_second(clock.monotonic_ms()),
    )


def _register_throttle(broker: "Broker", name: str, kind: QuotaType[Kept]) -> None:
    def throttle_ms(sensor: Kept) -> float:
        age_ms = broker.clock.monotonic_ms() - sensor.last_throttled_ms
        return sensor.last_throttle_ms if age_ms < _THROTTLE_KEPT_MS else 0

    broker.metrics.gauges(
        f"kafka_server_{name}_throttle_time",
        "Milliseconds that a client was last throttled for; 0 after eleven seconds.",
        _each(broker, kind, throttle_ms),
    )


def _each(
    broker: "Broker", kind: QuotaType[Kept], read: Callable[[Kept], float]
) -> Callable[[], Iterator[tuple[Labels, float]]]:
    def values() -> Iterator[tuple[Labels, float]]:
        used = kind.sensors.used(broker.clock.monotonic_ms())
        for holder, sensor in islice(used, CLIENTS_MAX):
            yield _labels(holder), read(sensor)

    return values


def _labels(holder: Holder) -> Labels:
    user, client_id = (name if isinstance(name, str) else "" for name in holder)
    return (("user", user), ("client_id", client_id))
