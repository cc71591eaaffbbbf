"""A program that copies a topic exactly once; tests kill it and start it again.

    python -m conformance.transactional_copier BOOTSTRAP INPUT OUTPUT COUNT

Reads what is committed, writes it with the offsets in one transaction, and ends when the
offsets say that COUNT records have been copied.
"""

import sys

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

RECORDS_PER_TRANSACTION = 40
GROUP = "copier"
_WAIT_S = 30


class Copier:
    """One life of the copier."""

    def __init__(self, bootstrap: str, source: str, target: str) -> None:
        self._source = source
        self._target = target
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": GROUP,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 6000,
                "reconnect.backoff.max.ms": 500,
            }
        )
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": "copier",
                "transaction.timeout.ms": 10000,
                "linger.ms": 1,
                "reconnect.backoff.max.ms": 500,
            }
        )

    def run(self, count: int) -> None:
        self._producer.init_transactions(_WAIT_S)
        self._consumer.subscribe([self._source])
        while self._copied() < count:
            messages = self._consumer.consume(RECORDS_PER_TRANSACTION, timeout=0.2)
            good = [message for message in messages if message.error() is None]
            if good:
                self._copy(good)

    def _copy(self, messages: list[Message]) -> None:
        self._producer.begin_transaction()
        offsets: dict[int, int] = {}
        for message in messages:
            partition, offset = message.partition() or 0, message.offset() or 0
            self._producer.produce(self._target, message.value(), partition=partition)
            offsets[partition] = offset + 1
        positions = [TopicPartition(self._source, *each) for each in offsets.items()]
        try:
            self._producer.send_offsets_to_transaction(
                positions, self._consumer.consumer_group_metadata(), _WAIT_S
            )
            self._producer.commit_transaction(_WAIT_S)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self._producer.abort_transaction(_WAIT_S)
            self._rewind()

    def _rewind(self) -> None:
        """What was read in an aborted transaction is read again."""
        assigned = self._consumer.assignment()
        for position in self._consumer.committed(assigned, _WAIT_S):
            position.offset = max(position.offset, 0)
            self._consumer.seek(position)

    def _copied(self) -> int:
        partitions = [TopicPartition(self._source, number) for number in range(2)]
        committed = self._consumer.committed(partitions, _WAIT_S)
        return sum(max(position.offset, 0) for position in committed)


if __name__ == "__main__":
    bootstrap, source, target, count = sys.argv[1:]
    Copier(bootstrap, source, target).run(int(count))
