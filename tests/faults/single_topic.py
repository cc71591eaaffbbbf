"""A topic beside the one that is under load: what is written to it, and what is there."""

from confluent_kafka import Consumer, Producer, TopicPartition

from conformance.our_cluster import DEADLINE_S
from faults.stage import Stage


def send(stage: Stage, topic: str, values: list[bytes]) -> None:
    """Append records one by one, and wait until all replicas in sync have them."""
    producer = Producer({"bootstrap.servers": stage.cluster.bootstrap, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
        producer.poll(0)
        # Batches of one: deletion then counts in records.
        assert producer.flush(DEADLINE_S) == 0, f"{topic} takes no records"


def read(stage: Stage, topic: str) -> list[bytes]:
    """All that can be read of a topic, up to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": stage.cluster.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    try:
        while True:
            message = consumer.poll(DEADLINE_S)
            assert message is not None, "the end did not come"
            if message.error() is not None:
                return found
            found.append(message.value() or b"")
    finally:
        consumer.close()
