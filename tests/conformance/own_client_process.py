"""A process with our clients, to be killed: says on its standard output what it is at.

python -m conformance.own_client_process reader BOOTSTRAP PROTOCOL
python -m conformance.own_client_process copier BOOTSTRAP PROTOCOL TRANSACTIONAL_ID
"""

import sys

from moldau.client.blocking import Consumer, Producer
from moldau.client.record import ConsumerRecord
from moldau.errors import KafkaError

SOURCE, TARGET = "from", "to"


def say(*words: object) -> None:
    print(*words, flush=True)


def member(bootstrap: str, protocol: str, isolation_level: str) -> Consumer[bytes, bytes]:
    consumer = Consumer[bytes, bytes](
        bootstrap_servers=bootstrap,
        isolation_level=isolation_level,
        enable_auto_commit=False,
        group_id="processes",
        group_protocol=protocol,
        auto_offset_reset="earliest",
        session_timeout_ms=1000,
        heartbeat_interval_ms=50,
        retry_backoff_ms=10,
    )
    consumer.subscribe([SOURCE], on_assigned=lambda partitions: say("assigned", len(partitions)))
    return consumer


def read(bootstrap: str, protocol: str) -> None:
    """Say each record, and commit after some of them."""
    with member(bootstrap, protocol, "read_uncommitted") as consumer:
        while True:
            for record in consumer.poll(0.2, max_records=10):
                say("read", (record.value or b"").decode())
            commit(consumer)
            say("has", len(consumer.assignment()))


def commit(consumer: Consumer[bytes, bytes]) -> None:
    try:
        consumer.commit()
    except KafkaError as error:  # others have the partitions by now, and read on
        say("not committed:", error.code.name)


def copy(bootstrap: str, protocol: str, transactional_id: str) -> None:
    """Copy exactly once."""
    with (
        Producer[bytes, bytes](
            bootstrap_servers=bootstrap, transactional_id=transactional_id, retry_backoff_ms=10
        ) as producer,
        member(bootstrap, protocol, "read_committed") as consumer,
    ):
        while True:
            records = consumer.poll(0.2, max_records=20)
            if not records:
                continue
            try:
                copy_in_transaction(producer, consumer, records)
            except KafkaError as error:
                say("aborted:", error.code.name)
                consumer.seek_to_committed()
            else:
                say("copied", len(records))


def copy_in_transaction(
    producer: Producer[bytes, bytes],
    consumer: Consumer[bytes, bytes],
    records: list[ConsumerRecord[bytes, bytes]],
) -> None:
    with producer.transaction():
        for record in records:
            producer.send(TARGET, record.value, partition=record.partition)
        producer.flush()
        say("open")
        positions = {each.topic_partition: each.offset + 1 for each in records}
        producer.send_offsets_to_transaction(positions, consumer.group_metadata())
        say("ending")


if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    if role == "reader":
        read(*arguments)
    else:
        copy(*arguments)
