"""One client at one task, as a process of its own: prints what it did as JSON.

python -m bench.client_runs CLIENT TASK BOOTSTRAP TOPIC COUNT
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIZE = 100
VALUE = b"v" * SIZE
LINGER_MS = 5
BATCH_BYTES = 1_000_000
BUFFER_BYTES = 256 << 20
FETCH_BYTES = 10_000_000

Figures = dict[str, float]


class Stopwatch:
    """The clock and the processor time of this process."""

    def __init__(self) -> None:
        self.seconds = self.cpu_s = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        began, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds = time.perf_counter() - began
        self.cpu_s = time.process_time() - cpu


def figures(watch: Stopwatch, count: int) -> Figures:
    """What is compared."""
    return {"msg/s": count / watch.seconds, "msg/CPU s": count / watch.cpu_s}


def latencies(send_and_wait: Callable[[], object], count: int) -> Figures:
    """Of one record after the other; the first ones are for warming up."""
    for _ in range(count // 10):
        send_and_wait()
    took = []
    for _ in range(count):
        began = time.perf_counter()
        send_and_wait()
        took.append(time.perf_counter() - began)
    return quantiles(took)


def quantiles(took: list[float]) -> Figures:
    took.sort()
    count = len(took)
    return {"p50 us": took[count // 2] * 1e6, "p99 us": took[count * 99 // 100] * 1e6}


# Moldau, blocking


def moldau_producer(bootstrap: str, linger_ms: int = LINGER_MS):  # type: ignore[no-untyped-def]
    from moldau.client.blocking import Producer

    return Producer[bytes, bytes](
        bootstrap_servers=bootstrap,
        acks=1,
        enable_idempotence=False,
        linger_ms=linger_ms,
        batch_size=BATCH_BYTES,
        max_request_size=4 * BATCH_BYTES,
        buffer_memory=BUFFER_BYTES,
    )


def moldau_consumer(bootstrap: str, topic: str):  # type: ignore[no-untyped-def]
    from moldau.client.blocking import Consumer

    consumer = Consumer[bytes, bytes](
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=FETCH_BYTES,
    )
    consumer.assign([(topic, 0)])
    return consumer


def moldau_send(bootstrap: str, topic: str, count: int) -> Figures:
    watch = Stopwatch()
    with moldau_producer(bootstrap) as producer:
        producer.send_and_wait(topic, VALUE)
        with watch.running():
            for _ in range(count):
                producer.send(topic, VALUE)
            producer.flush()
    return figures(watch, count)


def moldau_send_result(bootstrap: str, topic: str, count: int) -> Figures:
    watch, last = Stopwatch(), 0
    with moldau_producer(bootstrap) as producer:
        producer.send_and_wait(topic, VALUE)
        with watch.running():
            receipts = [producer.send(topic, VALUE) for _ in range(count)]
            for receipt in receipts:
                last = receipt.result().offset
    assert last >= count
    return figures(watch, count)


def moldau_latency(bootstrap: str, topic: str, count: int) -> Figures:
    with moldau_producer(bootstrap, linger_ms=0) as producer:
        return latencies(lambda: producer.send_and_wait(topic, VALUE), count)


def moldau_latency_of_receipts(bootstrap: str, topic: str, count: int) -> Figures:
    """By way of the event loop's thread, as any record that is not waited for at once."""
    with moldau_producer(bootstrap, linger_ms=0) as producer:
        return latencies(lambda: producer.send(topic, VALUE).result(), count)


async def moldau_async_latency(bootstrap: str, topic: str, count: int) -> Figures:
    from moldau import Producer

    async with Producer[bytes, bytes](
        bootstrap_servers=bootstrap, acks=1, enable_idempotence=False, linger_ms=0
    ) as producer:
        took = []
        for turn in range(count + count // 10):
            began = time.perf_counter()
            await producer.send_and_wait(topic, VALUE)
            if turn >= count // 10:
                took.append(time.perf_counter() - began)
    return quantiles(took)


async def aiokafka_latency(bootstrap: str, topic: str, count: int) -> Figures:
    from aiokafka import AIOKafkaProducer

    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks=1, linger_ms=0) as producer:
        took = []
        for turn in range(count + count // 10):
            began = time.perf_counter()
            await producer.send_and_wait(topic, VALUE)
            if turn >= count // 10:
                took.append(time.perf_counter() - began)
    return quantiles(took)


def moldau_iterate(bootstrap: str, topic: str, count: int) -> Figures:
    watch, read = Stopwatch(), 0
    with moldau_consumer(bootstrap, topic) as consumer, watch.running():
        for record in consumer:
            read += len(record.value) == SIZE
            if read == count:
                break
    return figures(watch, count)


def moldau_send_table(bootstrap: str, topic: str, count: int) -> Figures:
    import pyarrow as pa

    table = pa.table({"value": pa.repeat(pa.scalar(VALUE, pa.binary()), count)})
    watch = Stopwatch()
    with moldau_producer(bootstrap) as producer:
        producer.send_and_wait(topic, VALUE)
        with watch.running():
            producer.send_table(topic, table).result()
    return figures(watch, count)


def moldau_poll_table(bootstrap: str, topic: str, count: int) -> Figures:
    import pyarrow as pa  # noqa: F401 - importing it is not what is measured

    watch, read = Stopwatch(), 0
    with moldau_consumer(bootstrap, topic) as consumer, watch.running():
        while read < count:
            read += consumer.poll_table(10).num_rows
    return figures(watch, count)


# Moldau, asyncio


async def moldau_async_send(bootstrap: str, topic: str, count: int) -> Figures:
    from moldau import Producer

    watch = Stopwatch()
    async with Producer[bytes, bytes](
        bootstrap_servers=bootstrap,
        acks=1,
        enable_idempotence=False,
        linger_ms=LINGER_MS,
        batch_size=BATCH_BYTES,
        max_request_size=4 * BATCH_BYTES,
    ) as producer:
        await producer.send_and_wait(topic, VALUE)
        with watch.running():
            for _ in range(count):
                await producer.send(topic, VALUE)
            await producer.flush()
    return figures(watch, count)


async def moldau_async_iterate(bootstrap: str, topic: str, count: int) -> Figures:
    from moldau import Consumer

    watch, read = Stopwatch(), 0
    async with Consumer[bytes, bytes](
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=FETCH_BYTES,
    ) as consumer:
        consumer.assign([(topic, 0)])
        with watch.running():
            async for record in consumer:
                read += len(record.value or b"") == SIZE
                if read == count:
                    break
    return figures(watch, count)


# confluent-kafka


def confluent_producer(bootstrap: str, linger_ms: int = LINGER_MS):  # type: ignore[no-untyped-def]
    from confluent_kafka import Producer

    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": 1,
            "linger.ms": linger_ms,
            "batch.size": BATCH_BYTES,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": 2_000_000,
            "queue.buffering.max.kbytes": BUFFER_BYTES >> 10,
        }
    )


def confluent_send(
    bootstrap: str, topic: str, count: int, told: Callable[..., object] | None = None
) -> Figures:
    watch, producer = Stopwatch(), confluent_producer(bootstrap)
    producer.produce(topic, VALUE)
    producer.flush()
    with watch.running():
        for _ in range(count):
            while True:
                try:
                    producer.produce(topic, VALUE, on_delivery=told)
                    break
                except BufferError:
                    producer.poll(0.01)
            if told is not None:
                producer.poll(0)
        producer.flush()
    return figures(watch, count)


def confluent_send_result(bootstrap: str, topic: str, count: int) -> Figures:
    offsets: list[int] = []
    result = confluent_send(
        bootstrap, topic, count, lambda _, message: offsets.append(message.offset())
    )
    assert len(offsets) == count
    return result


def confluent_latency(bootstrap: str, topic: str, count: int) -> Figures:
    producer = confluent_producer(bootstrap, linger_ms=0)

    def send_and_wait() -> None:
        producer.produce(topic, VALUE)
        producer.flush()

    return latencies(send_and_wait, count)


def confluent_consume(bootstrap: str, topic: str, count: int) -> Figures:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": FETCH_BYTES,
            "queued.min.messages": 1_000_000,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    watch, read = Stopwatch(), 0
    with watch.running():
        while read < count:
            for message in consumer.consume(10_000, 1.0):
                read += len(message.value()) == SIZE
    consumer.close()
    return figures(watch, count)


# aiokafka


async def aiokafka_send(bootstrap: str, topic: str, count: int) -> Figures:
    from aiokafka import AIOKafkaProducer

    watch = Stopwatch()
    async with AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        acks=1,
        linger_ms=LINGER_MS,
        max_batch_size=BATCH_BYTES,
        max_request_size=4 * BATCH_BYTES,
    ) as producer:
        await producer.send_and_wait(topic, VALUE)
        with watch.running():
            for _ in range(count):
                await producer.send(topic, VALUE)
            await producer.flush()
    return figures(watch, count)


async def aiokafka_iterate(bootstrap: str, topic: str, count: int) -> Figures:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    watch, read = Stopwatch(), 0
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=FETCH_BYTES,
    )
    consumer.assign([TopicPartition(topic, 0)])
    async with consumer:
        with watch.running():
            async for record in consumer:
                read += len(record.value) == SIZE
                if read == count:
                    break
    return figures(watch, count)


RUNS = {
    ("Moldau", "send"): moldau_send,
    ("Moldau", "send, result"): moldau_send_result,
    ("Moldau", "latency"): moldau_latency,
    ("Moldau", "latency of receipts"): moldau_latency_of_receipts,
    ("Moldau", "async latency"): moldau_async_latency,
    ("Moldau", "consume"): moldau_iterate,
    ("Moldau", "send, table"): moldau_send_table,
    ("Moldau", "consume, table"): moldau_poll_table,
    ("Moldau", "async send"): moldau_async_send,
    ("Moldau", "async consume"): moldau_async_iterate,
    ("confluent", "send"): confluent_send,
    ("confluent", "send, result"): confluent_send_result,
    ("confluent", "latency"): confluent_latency,
    ("confluent", "consume"): confluent_consume,
    ("aiokafka", "async send"): aiokafka_send,
    ("aiokafka", "async consume"): aiokafka_iterate,
    ("aiokafka", "async latency"): aiokafka_latency,
}


def main(client: str, task: str, bootstrap: str, topic: str, count: str) -> None:
    run = RUNS[client, task]
    result = run(bootstrap, topic, int(count))
    if asyncio.iscoroutine(result):
        result = asyncio.run(result)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
