"""confluent-kafka (librdkafka), as it is on PyPI, against our broker."""

import time
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Headers, Sent, big_record, records

DEADLINE_S = 30


def produce(bootstrap: str, topic: str, rows: list[Sent], **settings: object) -> list[int]:
    """Send and wait; returns the offsets."""
    offsets: list[int] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        offsets.append(message.offset() or 0)

    named = {name.replace("_", "."): value for name, value in settings.items()}
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **named})
    for row in rows:
        producer.produce(
            topic,
            key=row.key,
            value=row.value,
            timestamp=row.timestamp_ms,
            headers=list(row.headers),
            partition=0,
            on_delivery=delivered,
        )
    assert producer.flush(DEADLINE_S) == 0
    return sorted(offsets)


def consume(bootstrap: str, topic: str, count: int, *, start: int = 0) -> list[Sent]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "by-assignment",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 10_000_000,
        }
    )
    consumer.assign([TopicPartition(topic, 0, start)])
    found: list[Sent] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), DEADLINE_S)
        assert messages, f"only {len(found)} of {count} records came"
        for message in messages:
            assert message.error() is None, message.error()
            headers = cast(Headers, tuple(message.headers() or ()))
            found.append(Sent(message.key(), message.value(), message.timestamp()[1], headers))
    consumer.close()
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_there_and_back(broker: OurBroker, codec: str) -> None:
    topic, rows = f"codec-{codec}", records()
    offsets = produce(broker.bootstrap, topic, rows, compression_type=codec)
    assert offsets == list(range(len(rows)))
    assert consume(broker.bootstrap, topic, len(rows)) == rows


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement(broker: OurBroker, acks: str) -> None:
    topic, rows = f"acks-{acks}", records(20)
    produce(broker.bootstrap, topic, rows, acks=acks)
    assert consume(broker.bootstrap, topic, len(rows)) == rows


def test_an_idempotent_producer(broker: OurBroker) -> None:
    rows = records()
    produce(broker.bootstrap, "idempotent", rows, enable_idempotence=True)
    assert consume(broker.bootstrap, "idempotent", len(rows)) == rows


def test_a_message_of_several_megabytes(broker: OurBroker) -> None:
    row = big_record()
    produce(broker.bootstrap, "big", [row], message_max_bytes=10_000_000)
    assert consume(broker.bootstrap, "big", 1) == [row]


def test_offsets_are_found_by_time(broker: OurBroker) -> None:
    rows = [Sent(None, b"%d" % number, 1_700_000_000_000 + 1000 * number) for number in range(10)]
    produce(broker.bootstrap, "times", rows)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "times"})
    asked = [TopicPartition("times", 0, 1_700_000_003_500)]
    assert consumer.offsets_for_times(asked, DEADLINE_S)[0].offset == 4
    assert consumer.get_watermark_offsets(TopicPartition("times", 0), DEADLINE_S) == (0, 10)
    consumer.close()


def test_a_group_shares_the_partitions_and_remembers_where_it_was(broker: OurBroker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic("grouped", 4)])["grouped"].result(DEADLINE_S)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(400):
        producer.produce("grouped", b"%d" % number, partition=number % 4)
    assert producer.flush(DEADLINE_S) == 0
    members = [grouped_consumer(broker) for _ in range(2)]
    found = drain(members, 400)
    assert sorted(int(value) for value in found) == list(range(400))
    assert sorted(len(member.assignment()) for member in members) == [2, 2]
    for member in members:
        member.close()
    producer.produce("grouped", b"later", partition=0)
    assert producer.flush(DEADLINE_S) == 0
    again = grouped_consumer(broker)
    assert drain([again], 1) == [b"later"]
    again.close()


def grouped_consumer(broker: OurBroker) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "sharing",
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 6000,
        }
    )
    consumer.subscribe(["grouped"])
    return consumer


def drain(members: list[Consumer], count: int) -> list[bytes]:
    """Poll in turn until so many values came and every member has partitions."""
    found: list[bytes] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(found) < count or not all(member.assignment() for member in members):
        assert time.monotonic() < deadline, f"only {len(found)} of {count} records came"
        for member in members:
            message = member.poll(0.02)
            if message is not None:
                value = message.value()
                assert message.error() is None, message.error()
                assert value is not None
                found.append(value)
    return found


def test_a_transaction_is_seen_when_it_is_committed(broker: OurBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "tx"})
    producer.init_transactions(DEADLINE_S)
    for value, commits in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.produce("transactions", value, partition=0)
        if commits:
            producer.commit_transaction(DEADLINE_S)
        else:
            producer.abort_transaction(DEADLINE_S)
    values = [row.value for row in consume(broker.bootstrap, "transactions", 2)]
    assert values == [b"kept", b"kept too"]


def test_topics_are_created_configured_and_deleted(broker: OurBroker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topic = NewTopic("administered", 3, config={"retention.ms": "1000"})
    admin.create_topics([topic])["administered"].result(DEADLINE_S)
    resource = ConfigResource(ResourceType.TOPIC, "administered")
    settings = admin.describe_configs([resource])[resource].result(DEADLINE_S)
    assert settings["retention.ms"].value == "1000"
    assert len(admin.list_topics(timeout=DEADLINE_S).topics["administered"].partitions) == 3
    admin.create_partitions([NewPartitions("administered", 5)])["administered"].result(DEADLINE_S)
    assert len(admin.list_topics(timeout=DEADLINE_S).topics["administered"].partitions) == 5
    admin.delete_topics(["administered"])["administered"].result(DEADLINE_S)
    assert "administered" not in admin.list_topics(timeout=DEADLINE_S).topics


def test_a_producer_goes_on_after_a_restart(tmp_path: Path) -> None:
    with our_broker(tmp_path) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all"})
        failed: list[KafkaError] = []

        def delivered(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                failed.append(error)

        for number in range(100):
            producer.produce("restarts", b"%d" % number, on_delivery=delivered)
        assert producer.flush(DEADLINE_S) == 0
        broker.stop()
        for number in range(100, 200):
            producer.produce("restarts", b"%d" % number, on_delivery=delivered)
        broker.start()
        assert producer.flush(DEADLINE_S) == 0
        assert not failed
        values = [row.value for row in consume(broker.bootstrap, "restarts", 200)]
    assert values == [b"%d" % number for number in range(200)]
