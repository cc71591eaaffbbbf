"""kafka-python, as it is on PyPI, against our broker."""

import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from conformance.clients.talking import talking
from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Sent, big_record, records

DEADLINE_S = 30


def produce(bootstrap: str, topic: str, rows: list[Sent], **settings: object) -> list[int]:
    """Send and wait; returns the offsets."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, **settings)
    try:
        sent = [
            producer.send(
                topic,
                key=row.key,
                value=row.value,
                headers=list(row.headers),
                partition=0,
                timestamp_ms=row.timestamp_ms,
            )
            for row in rows
        ]
        return [future.get(DEADLINE_S).offset for future in sent]
    finally:
        producer.close()


def consume(bootstrap: str, topic: str, count: int) -> list[Sent]:
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=None,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=10_000_000,
    )
    consumer.assign([TopicPartition(topic, 0)])
    found: list[Sent] = []
    while len(found) < count:
        polled = consumer.poll(timeout_ms=DEADLINE_S * 1000)
        assert polled, f"only {len(found)} of {count} records came"
        for record in polled[TopicPartition(topic, 0)]:
            headers = tuple(record.headers)
            found.append(Sent(record.key, record.value, record.timestamp, headers))
    consumer.close()
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_there_and_back(broker: OurBroker, codec: str) -> None:
    topic, rows = f"codec-{codec}", records()
    setting = None if codec == "none" else codec
    offsets = produce(broker.bootstrap, topic, rows, compression_type=setting)
    assert offsets == list(range(len(rows)))
    assert consume(broker.bootstrap, topic, len(rows)) == rows


def test_a_message_of_several_megabytes(broker: OurBroker) -> None:
    row = big_record()
    produce(broker.bootstrap, "big", [row], max_request_size=10_000_000)
    assert consume(broker.bootstrap, "big", 1) == [row]


def test_offsets_are_found_by_time(broker: OurBroker) -> None:
    rows = [Sent(None, b"%d" % number, 1_700_000_000_000 + 1000 * number) for number in range(10)]
    produce(broker.bootstrap, "times", rows)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=None)
    partition = TopicPartition("times", 0)
    assert consumer.offsets_for_times({partition: 1_700_000_003_500})[partition].offset == 4
    assert consumer.end_offsets([partition]) == {partition: 10}
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    consumer.close()


def test_a_group_remembers_where_it_was(broker: OurBroker) -> None:
    produce(broker.bootstrap, "grouped", records(50))
    assert len(grouped(broker, 50)) == 50
    produce(broker.bootstrap, "grouped", [Sent(None, b"later", 1)])
    assert grouped(broker, 1) == [b"later"]


def grouped(broker: OurBroker, count: int) -> list[bytes | None]:
    """The next records of a group that commits what it has read."""
    consumer = KafkaConsumer(
        "grouped",
        bootstrap_servers=broker.bootstrap,
        group_id="grouped",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    found: list[bytes | None] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < deadline, f"only {len(found)} of {count} records came"
        for polled in consumer.poll(timeout_ms=500).values():
            found += [record.value for record in polled]
    consumer.commit()
    consumer.close()
    return found


def test_topics_are_created_and_deleted(broker: OurBroker) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    admin.create_topics([NewTopic("administered", num_partitions=3, replication_factor=1)])
    assert "administered" in admin.list_topics()
    admin.delete_topics(["administered"])
    assert "administered" not in admin.list_topics()
    admin.close()


def test_a_producer_and_a_group_go_on_after_a_restart(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "conformance.clients.kafka_python_traffic"]
    with our_broker(tmp_path) as broker, talking([*program, broker.bootstrap, "t"]) as ask:
        assert ask(["a", "b"]) == ["a", "b"]
        broker.stop()
        broker.start()
        assert ask(["c", "d"]) == ["c", "d"]
