"""The background loops inside a running broker, by what a client sees of them."""

from collections.abc import Iterator

import pytest

from moldau.broker.broker import Broker
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.wire import WireClient
from unit.testing.requests import produce

NOW_MS = 1_700_000_000_000


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {
        "log.cleaner.backoff.ms": "20",
        "log.retention.check.interval.ms": "20",
        "replica.high.watermark.checkpoint.interval.ms": "20",
        "log.flush.offset.checkpoint.interval.ms": "20",
    }


@pytest.fixture
def client(kafka: EmbeddedBroker) -> Iterator[WireClient]:
    with WireClient(kafka.bootstrap_servers) as client:
        yield client


def create(client: WireClient, topic: str, **settings: str) -> None:
    named = [
        CreatableTopicConfig(name=name.replace("_", "."), value=value)
        for name, value in settings.items()
    ]
    wanted = CreatableTopic(
        name=topic, num_partitions=1, replication_factor=1, assignments=[], configs=named
    )
    (result,) = client.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=5000)).topics
    assert result.error_code == 0, result


def send(client: WireClient, topic: str, key: bytes, value: bytes) -> None:
    response = client.ask(produce(topic, bytes(write_batch([Record(0, NOW_MS, key, value)]))))
    assert response.responses[0].partition_responses[0].error_code == 0


def log_of(broker: Broker, topic: str) -> Log:
    log = broker.logs.get(TopicPartition(topic, 0))
    assert log is not None
    return log


def test_a_compacted_topic_keeps_the_newest_of_each_key(
    kafka: EmbeddedBroker, client: WireClient
) -> None:
    create(
        client,
        "compacted",
        cleanup_policy="compact",
        segment_bytes="1000",
        min_cleanable_dirty_ratio="0.01",
    )
    for number in range(100):
        send(client, "compacted", b"key-%d" % (number % 3), b"%03d" % number + bytes(200))
    kafka.wait_for(lambda broker: log_of(broker, "compacted").size < 5000)
    newest = {record.key: record.value for record in kafka.records("compacted")[0]}
    assert {key: (value or b"")[:3] for key, value in newest.items()} == {
        b"key-0": b"099",
        b"key-1": b"097",
        b"key-2": b"098",
    }


def test_old_records_go(kafka: EmbeddedBroker, client: WireClient) -> None:
    create(client, "short", retention_ms="1000", segment_bytes="1000", file_delete_delay_ms="0")
    for number in range(20):
        send(client, "short", b"key", b"%03d" % number + bytes(200))
    kafka.wait_for(lambda broker: log_of(broker, "short").log_start_offset == 20)
    assert kafka.records("short")[0] == []


def test_checkpoints_follow(kafka: EmbeddedBroker, client: WireClient) -> None:
    create(client, "checked", segment_bytes="1000", retention_ms="-1")
    for number in range(20):
        send(client, "checked", b"key", b"%03d" % number + bytes(200))
    marks = kafka.directory / "replication-offset-checkpoint"
    points = kafka.directory / "recovery-point-offset-checkpoint"
    kafka.wait_for(lambda _: marks.exists() and "checked 0 20\n" in marks.read_text())
    # Complete segments are flushed, the active one is not.
    active = kafka.look(lambda broker: log_of(broker, "checked").segments.active.base_offset)
    assert 0 < active < 20
    kafka.wait_for(lambda _: f"checked 0 {active}\n" in points.read_text())
