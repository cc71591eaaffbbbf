"""Reads orders, writes their totals: each exactly once, whatever happens on the way.

Run it with the address of a broker, or without to have one started:

    python examples/exactly_once.py localhost:9092
"""

import asyncio
import sys

from moldau import Admin, Consumer, Producer
from moldau.client.admin.topics import NewTopic
from moldau.testing.broker import running_broker

ORDERS = 20


async def main(servers: str) -> None:
    async with Admin(bootstrap_servers=servers) as admin:
        await admin.create_topics([NewTopic("orders", 1, 1), NewTopic("totals", 1, 1)])
    async with Producer[str, str](bootstrap_servers=servers) as producer:
        for number in range(ORDERS):
            await producer.send("orders", str(number), key=f"customer-{number % 3}")
    totals = await add_up(servers)
    for customer, total in sorted(totals.items()):
        print(customer, total)


async def add_up(servers: str) -> dict[str, int]:
    """What was read is committed in the same transaction as what was written."""
    totals: dict[str, int] = {}
    seen = 0
    async with (
        Producer[str, str](bootstrap_servers=servers, transactional_id="adder") as producer,
        Consumer[str, str](
            bootstrap_servers=servers,
            group_id="adders",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            key_deserializer=bytes.decode,
            value_deserializer=bytes.decode,
        ) as consumer,
    ):
        consumer.subscribe(["orders"])
        while seen < ORDERS:
            records = await consumer.poll(1.0)
            if not records:
                continue
            async with producer.transaction():
                for record in records:
                    customer = record.key or ""
                    totals[customer] = totals.get(customer, 0) + int(record.value or 0)
                    await producer.send("totals", str(totals[customer]), key=customer)
                positions = {record.topic_partition: record.offset + 1 for record in records}
                await producer.send_offsets_to_transaction(positions, consumer.group_metadata())
            seen += len(records)
    return totals


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(sys.argv[1]))
    else:
        with running_broker() as kafka:
            asyncio.run(main(kafka.bootstrap_servers))
