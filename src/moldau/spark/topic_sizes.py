"""How many partitions topics have, as far as a worker has learned."""

from moldau.client.blocking.producer import Producer
from moldau.runtime.clock import SystemClock
from moldau.spark.sink_options import SinkOptions

COUNT_AGE_MAX_MS = 60_000
_Client = tuple[tuple[str, str], ...]
_counts: dict[tuple[_Client, str], tuple[int, int]] = {}


def partition_count(topic: str, options: SinkOptions) -> int:
    """Ask the brokers, at most once a minute; the topic is created if they do that."""
    now_ms = SystemClock().monotonic_ms()
    found, at_ms = _counts.get((options.client, topic), (0, 0))
    if not found or now_ms - at_ms > COUNT_AGE_MAX_MS:
        with Producer[bytes, bytes](dict(options.client)) as producer:
            found = len(producer.partitions_of(topic))
        _counts[options.client, topic] = (found, now_ms)
    return found
