"""Some records of a topic, the newest of each partition."""

import time
from collections.abc import Mapping

from moldau.client.blocking.consumer import Consumer
from moldau.client.record import ConsumerRecord
from moldau.errors import ErrorCode, KafkaError

RECORDS_MAX = 200
_PATIENCE_S = 10.0
_POLL_S = 0.5

Sampled = list[ConsumerRecord[bytes, bytes]]


def sampled(settings: Mapping[str, str], topic: str) -> Sampled:
    """At most `RECORDS_MAX` records; KafkaError if there is no such topic."""
    asking = {**settings, "allow.auto.create.topics": "false"}
    with Consumer[bytes, bytes](asking) as consumer:
        partitions = consumer.partitions_of(topic)
        if not partitions:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {topic}")
        first, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
        share = max(RECORDS_MAX // len(partitions), 1)
        begin = {
            each: max(first[each], ends[each] - share)
            for each in partitions
            if ends[each] > first[each]
        }
        consumer.assign(begin)
        found: Sampled = []
        deadline = time.monotonic() + _PATIENCE_S
        while begin and len(found) < RECORDS_MAX and time.monotonic() < deadline:
            found += consumer.poll(_POLL_S)
            if all(consumer.position(each) >= ends[each] for each in begin):
                break
        return found[:RECORDS_MAX]
