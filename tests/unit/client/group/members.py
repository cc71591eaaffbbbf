"""Consumers in groups, quick to notice each other."""

from moldau.client.consumer.consumer import Consumer
from moldau.testing.broker import EmbeddedBroker

QUICK_GROUPS = {
    "num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
}


def member_of(kafka: EmbeddedBroker, **settings: object) -> Consumer[bytes, bytes]:
    quick = {
        "group_id": "g",
        "auto_offset_reset": "earliest",
        "heartbeat_interval_ms": 20,
        "fetch_max_wait_ms": 20,
        "retry_backoff_ms": 5,
        "request_timeout_ms": 5000,
        **settings,
    }
    mapping = {name.replace("_", "."): value for name, value in quick.items()}
    return Consumer({"bootstrap.servers": kafka.bootstrap_servers, **mapping})


async def settle(*members: Consumer[bytes, bytes], counts: list[int]) -> None:
    """Poll until the members have so many partitions."""
    while sorted(len(member.assignment()) for member in members) != sorted(counts):
        for member in members:
            await member.poll(0.01)
