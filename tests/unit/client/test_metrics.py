"""Clients say what they have done, when asked and by themselves."""

import asyncio
import logging
import threading
from collections.abc import Mapping

import pytest

from moldau.client import blocking
from moldau.client.admin.admin import Admin
from moldau.client.consumer.consumer import Consumer
from moldau.client.metrics import ConnectionTraffic, Latencies, Reporter
from moldau.client.producer.producer import Producer
from moldau.errors import ErrorCode, KafkaError
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.client.group.members import QUICK_GROUPS, member_of
from unit.client.reading import read, write


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {**QUICK_GROUPS, "num.partitions": "1"}


async def test_a_producer_counts_what_became_of_its_records(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5
    ) as producer:
        assert producer.metrics()["record-send-total"] == 0
        await producer.send_and_wait("t", b"v" * 100)
        actions = [Fail(ErrorCode.INVALID_RECORD), Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)]
        kafka.control("Produce", lambda _: actions.pop() if actions else None)
        with pytest.raises(KafkaError):
            await producer.send_and_wait("t", b"refused")
        metrics = producer.metrics()
    assert metrics["record-send-total"] == 1
    assert metrics["record-retry-total"] == 1
    assert metrics["record-error-total"] == 1
    assert 100 < metrics["byte-total"] < 200
    assert metrics["batch-size-avg"] == metrics["byte-total"]
    assert metrics["request-total"] == metrics["response-total"] > 3
    assert metrics["outgoing-byte-total"] > 200
    assert metrics["incoming-byte-total"] > 100
    assert metrics["connection-creation-total"] >= 1
    assert metrics["buffer-available-bytes"] == metrics["buffer-total-bytes"] == 32 << 20


def test_records_that_went_directly_count_too(kafka: EmbeddedBroker) -> None:
    with blocking.Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for _ in range(5):
            producer.send_and_wait("t", b"v")
        metrics = producer.metrics()
    assert metrics["record-send-total"] == 5
    assert metrics["request-total"] == metrics["response-total"] >= 7


async def test_a_consumer_counts_what_it_fetched_and_knows_how_far_it_is(
    kafka: EmbeddedBroker,
) -> None:
    await write(kafka, "t", range(10))
    async with member_of(kafka) as consumer:
        consumer.subscribe("t")
        await read(consumer, 4)
        await consumer.commit()
        metrics = consumer.metrics()
    assert metrics["records-lag-max"] == 6
    assert metrics["assigned-partitions"] == 1
    assert metrics["bytes-consumed-total"] > 100
    assert metrics["fetch-total"] >= 1
    assert 0 < metrics["fetch-latency-avg"] <= metrics["fetch-latency-max"]
    assert metrics["rebalance-total"] == 1
    assert metrics["commit-total"] == 1


async def test_a_listener_is_told_again_and_again(kafka: EmbeddedBroker) -> None:
    heard: asyncio.Queue[Mapping[str, float]] = asyncio.Queue()
    often: dict[str, object] = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "metrics.sample.window.ms": 10,
    }

    async def hear(metrics: Mapping[str, float]) -> None:
        await heard.put(metrics)

    async with (
        Producer[bytes, bytes](often, on_metrics=hear) as producer,
        asyncio.timeout(20),
    ):
        await producer.send_and_wait("t", b"v")
        while (await heard.get())["record-send-total"] < 1:
            pass
    async with (
        Consumer[bytes, bytes](often, on_metrics=hear) as consumer,
        asyncio.timeout(20),
    ):
        consumer.assign([("t", 0)])
        while (await heard.get()).get("assigned-partitions") != 1:
            pass
    async with Admin(often, on_metrics=hear) as admin, asyncio.timeout(20):
        await admin.list_topics()
        while "record-send-total" in (metrics := await heard.get()) or "fetch-total" in metrics:
            pass
        assert metrics["request-total"] > 0


async def test_an_admin_client_counts_its_requests(kafka: EmbeddedBroker) -> None:
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        before = admin.metrics()["request-total"]
        await admin.list_topics()
        assert admin.metrics()["request-total"] > before


def test_the_blocking_forms_are_asked_in_the_same_way(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    with blocking.Consumer(bootstrap_servers=servers) as consumer:
        assert consumer.metrics()["assigned-partitions"] == 0
    with blocking.Admin(bootstrap_servers=servers) as admin:
        assert admin.metrics()["connection-creation-total"] == 1


async def test_a_listener_that_fails_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    def fail(_metrics: Mapping[str, float]) -> None:
        if "failed" in caplog.text:
            told.set()
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR):
        reporting = asyncio.create_task(Reporter(dict, fail, interval_ms=1).run())
        assert await asyncio.to_thread(told.wait, 10)
        reporting.cancel()
    assert "the listener for metrics failed" in caplog.text


def test_latencies_and_traffic_are_added_up() -> None:
    latencies = Latencies()
    assert latencies.metrics("x") == {"x-latency-avg": 0.0, "x-latency-max": 0.0}
    latencies.note(0.001)
    latencies.note(0.003)
    assert latencies.metrics("x") == {"x-latency-avg": 2.0, "x-latency-max": 3.0}
    assert ConnectionTraffic(1, 2, 3, 4, 5) + ConnectionTraffic(
        10, 20, 30, 40, 50
    ) == ConnectionTraffic(11, 22, 33, 44, 55)
