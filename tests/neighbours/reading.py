"""All that a topic of a broker has, for trials that look at it again and again."""

import time

from moldau.client.blocking import Admin, Consumer
from moldau.client.record import ConsumerRecord

_DEADLINE_S = 60


def records_of(bootstrap: str, topic: str) -> list[ConsumerRecord[bytes, bytes]]:
    """The records up to the end that the topic has now; none if it is not there."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        if topic not in admin.list_topics():
            return []
    found: list[ConsumerRecord[bytes, bytes]] = []
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        places = consumer.partitions_of(topic)
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        deadline = time.monotonic() + _DEADLINE_S
        # Markers of transactions have offsets, too, so records cannot be counted.
        while any(consumer.position(place) < ends[place] for place in places):
            assert time.monotonic() < deadline, f"the end of {topic} was not reached"
            found += consumer.poll(0.2)
    return found
