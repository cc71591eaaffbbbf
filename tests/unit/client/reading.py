"""Topics full of numbers, and consumers that read them."""

from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.testing.broker import EmbeddedBroker


async def write(kafka: EmbeddedBroker, topic: str, numbers: range) -> None:
    """One record for each number, in partition 0, in batches of a few."""
    servers = kafka.bootstrap_servers
    async with Producer[bytes, bytes](bootstrap_servers=servers, batch_size=150) as producer:
        for number in numbers:
            await producer.send(topic, b"%d" % number, partition=0, timestamp_ms=1000 + number)


async def read(consumer: Consumer[bytes, bytes], count: int) -> list[int]:
    """So many numbers, in the order in which they are handed out."""
    found: list[int] = []
    async for record in consumer:
        assert record.value is not None
        found.append(int(record.value))
        if len(found) == count:
            break
    return found
