"""librdkafka's producer and consumer, writing down what they are told."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from simulation.client import TOPIC
from simulation.history import History, Outcome, Read, Write

# What was sent to a broker that stands still is not waited for as long as by default.
_SOCKET_TIMEOUT_MS = 3000


@dataclass(frozen=True, slots=True)
class Way:
    """How it comes to brokers: where to, and what it says there."""

    bootstrap: str
    login: Mapping[str, str] = field(default_factory=dict)


class Sender:
    """An idempotent producer with acks=all."""

    def __init__(self, way: Way, name: str, history: History, **settings: object) -> None:
        """`settings` have underscores for dots."""
        self.acknowledged_at_s: list[float] = []
        self.errors: list[KafkaError] = []
        self._name = name
        self._history = history
        self._number = 0
        self._producer = Producer(
            {
                "bootstrap.servers": way.bootstrap,
                **way.login,
                "client.id": name,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 120_000,
                "socket.timeout.ms": _SOCKET_TIMEOUT_MS,
                **{key.replace("_", "."): value for key, value in settings.items()},
            }
        )

    def send(self, partition: int, padding: str = "") -> None:
        """Send one record."""
        value = f"{self._name}{padding}#{self._number}"
        write = Write(self._name, partition, [value])

        def note(error: KafkaError | None, message: Message) -> None:
            if error is None:
                write.outcome, write.base_offset = Outcome.DONE, message.offset() or 0
                self.acknowledged_at_s.append(time.monotonic())
            else:
                self.errors.append(error)

        try:
            self._producer.produce(TOPIC, value.encode(), partition=partition, on_delivery=note)
        except BufferError:
            return
        self._number += 1
        self._history.writes.append(write)

    def poll(self, duration_s: float) -> None:
        """Hear for some time what became of records."""
        self._producer.poll(duration_s)

    def flush(self, duration_s: float) -> int:
        """Wait until the fate of all records is known; returns of how many it is not."""
        return self._producer.flush(duration_s)


def receive(
    way: Way, name: str, history: History, partitions: int, is_over: Callable[[], bool]
) -> None:
    """Read what is committed of all partitions, from their beginning, until it is over."""
    consumer = Consumer(
        {
            "bootstrap.servers": way.bootstrap,
            **way.login,
            "client.id": name,
            "group.id": name,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "socket.timeout.ms": _SOCKET_TIMEOUT_MS,
        }
    )
    consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(partitions)])
    while not is_over():
        for message in consumer.consume(500, 0.1):
            if message.error() is None:
                history.reads.append(_read(name, message))
    consumer.close()


def _read(name: str, message: Message) -> Read:
    partition, offset, value = message.partition(), message.offset(), message.value()
    assert partition is not None
    assert offset is not None
    return Read(name, partition, offset, (value or b"").decode(), is_committed_only=True)
