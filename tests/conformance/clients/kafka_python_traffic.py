"""A producer and a group of kafka-python that outlive their broker, as a program.

    python -m conformance.clients.kafka_python_traffic BOOTSTRAP TOPIC

Answers requests, one JSON line each: a list of values is produced, then read and committed.
A process of its own, since this client leaves sockets open while it looks for its broker.
"""

import json
import sys
import time

from kafka import KafkaConsumer, KafkaProducer

DEADLINE_S = 40


def read(consumer: KafkaConsumer, count: int) -> list[str]:
    values: list[str] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(values) < count:
        assert time.monotonic() < deadline, f"only {len(values)} of {count} records came"
        for polled in consumer.poll(timeout_ms=100).values():
            values += [record.value.decode() for record in polled]
    consumer.commit()
    return values


def main(bootstrap: str, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True)
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=topic,
        auto_offset_reset="earliest",
        metadata_max_age_ms=500,
    )
    for line in sys.stdin:
        values = json.loads(line)
        for sent in [producer.send(topic, value.encode(), partition=0) for value in values]:
            sent.get(DEADLINE_S)
        print(json.dumps(read(consumer, len(values))), flush=True)
    consumer.close()
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
