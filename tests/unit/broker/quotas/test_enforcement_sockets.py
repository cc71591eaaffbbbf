"""Quotas over real sockets: clients of others slow down, and see why."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Place

from moldau.broker.settings.client_quotas import QuotaChange
from moldau.testing.broker import EmbeddedBroker, running_broker

RATE = 100_000
RECORD = b"x" * 10_000
# What passes at once is one second's worth, instead of ten.
SETTINGS = {"quota.window.num": "2"}
COUNT = 25
LEAST_S, MOST_S = 0.7, 20.0


@pytest.fixture
def slowing() -> Iterator[EmbeddedBroker]:
    with running_broker(SETTINGS) as kafka:
        yield kafka


def limit(kafka: EmbeddedBroker, **quotas: float) -> None:
    changes = [QuotaChange(key, value) for key, value in quotas.items()]

    async def alter() -> None:
        store = kafka.running.broker.client_quotas
        await store.alter({"client-id": "slow"}, changes, is_only_checked=False)

    kafka.call(alter())


def write(kafka: EmbeddedBroker, client_id: str) -> tuple[float, list[Any]]:
    """How long it takes to write the records, and the waits that the client was told of."""
    waits: list[Any] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "client.id": client_id,
        "batch.num.messages": 1,
        "throttle_cb": waits.append,
    }
    producer = Producer(settings)
    began_s = time.monotonic()
    for _ in range(COUNT):
        producer.produce("t", RECORD)
        producer.poll(0)
    assert producer.flush(60) == 0
    return time.monotonic() - began_s, waits


def test_a_producer_slows_down(slowing: EmbeddedBroker) -> None:
    write(slowing, "fast")
    limit(slowing, producer_byte_rate=RATE)
    seconds, waits = write(slowing, "slow")
    assert LEAST_S < seconds < MOST_S
    assert waits
    assert all(wait.throttle_time > 0 for wait in waits)


def test_a_consumer_slows_down_and_gets_everything(slowing: EmbeddedBroker) -> None:
    write(slowing, "fast")
    limit(slowing, consumer_byte_rate=RATE)
    waits: list[Any] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": slowing.bootstrap_servers,
        "client.id": "slow",
        "group.id": "g",
        "enable.auto.commit": False,
        "throttle_cb": waits.append,
    }
    consumer = Consumer(settings)
    consumer.assign([Place("t", 0, 0)])
    began_s, read = time.monotonic(), 0
    while read < COUNT and time.monotonic() - began_s < 60:
        read += sum(message.error() is None for message in consumer.consume(COUNT, 0.1))
    seconds = time.monotonic() - began_s
    consumer.close()
    assert read == COUNT
    assert LEAST_S < seconds < MOST_S
    assert any(wait.throttle_time > 0 for wait in waits)
