"""Short ways to write in transactions and to read what is committed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from confluent_kafka import Consumer, Producer, TopicPartition

from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from moldau.testing.wire import WireClient

DEADLINE_S = 30


class Reachable(Protocol):
    """One broker, or several."""

    @property
    def bootstrap(self) -> str:
        """Where clients find it."""


def producer_of(broker: Reachable, transactional_id: str, **settings: object) -> Producer:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "transactional.id": transactional_id, **named}
    )
    producer.init_transactions(DEADLINE_S)
    return producer


def write(producer: Producer, topic: str, *values: bytes, is_commit: bool) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    producer.flush(DEADLINE_S)
    if is_commit:
        producer.commit_transaction(DEADLINE_S)
    else:
        producer.abort_transaction(DEADLINE_S)


def until_state(broker: Reachable, transactional_id: str, label: str) -> TransactionState:
    """Wait until the coordinator says so; an ending is answered before it is complete."""
    deadline = time.monotonic() + DEADLINE_S
    asked = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    with WireClient(broker.bootstrap) as client:
        while True:
            state: TransactionState
            (state,) = client.ask(asked, 0).transaction_states
            if (state.error_code, state.transaction_state) == (ErrorCode.NONE, label):
                return state
            assert time.monotonic() < deadline, f"{state} does not become {label}"


@contextmanager
def reader(broker: Reachable, isolation: str = "read_committed") -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def read(
    broker: Reachable, topic: str, *, number: int = 0, isolation: str = "read_committed"
) -> list[bytes]:
    """All that a consumer sees up to the end."""
    found: list[bytes] = []
    with reader(broker, isolation) as consumer:
        consumer.assign([TopicPartition(topic, number, 0)])
        while True:
            message = consumer.poll(DEADLINE_S)
            assert message is not None, "the end did not come"
            if message.error() is not None:
                return found
            found.append(message.value() or b"")
