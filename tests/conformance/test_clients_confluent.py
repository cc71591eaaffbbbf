"""confluent-kafka (librdkafka), as it is on PyPI, against our broker."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Sent, big_record, records

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
            headers = tuple((name, value) for name, value in message.headers() or ())
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
