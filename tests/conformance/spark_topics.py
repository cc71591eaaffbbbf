"""Topics with everything that a reader must cope with, and the rows that are to be found in them.

Every codec, keys, values and headers that are absent, transactions that were aborted, and gaps
that compaction has left.
"""

import time
from collections import Counter
from typing import NamedTuple

from pyspark.sql import DataFrame

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.testing.broker import EmbeddedBroker

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PLAIN, IN_TRANSACTIONS, COMPACTED = "every-codec", "in-transactions", "compacted"
TOPICS = (PLAIN, IN_TRANSACTIONS, COMPACTED)
EVERYTHING = {
    "subscribe": ",".join(TOPICS),
    "includeHeaders": "true",
    "kafka.isolation.level": "read_committed",
}
"""The options to read them with."""
CLEANING = {"log.cleaner.backoff.ms": "50"}
"""What a broker needs for compaction to come soon."""

_PARTITIONS = 3
_ROWS = 60
_KEYS = 7
_START_MS = 1_760_000_000_000
_SEGMENT = {"cleanup.policy": "compact", "segment.bytes": "2000", "min.cleanable.dirty.ratio": "0"}
_ROWS_PER_SEGMENT_MAX = 2000 // 70  # no record with its batch is smaller
_DEADLINE_S = 120


class Row(NamedTuple):
    """One record with all that a row of Spark has."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def produce_all(broker: EmbeddedBroker) -> set[Row]:
    """Fill the topics; what a reader of committed records is to find."""
    servers = broker.bootstrap_servers
    with Admin(bootstrap_servers=servers) as admin:
        topics = {PLAIN: {}, IN_TRANSACTIONS: {}, COMPACTED: _SEGMENT}
        admin.create_topics(
            [NewTopic(name, _PARTITIONS, configs=configs) for name, configs in topics.items()]
        ).check()
    found: set[Row] = set()
    to_be_compacted: set[Row] = set()
    for codec in CODECS:
        with Producer[bytes, bytes](bootstrap_servers=servers, compression_type=codec) as producer:
            found |= _produce(producer, PLAIN, codec)
            to_be_compacted |= _produce(producer, COMPACTED, codec)
        found |= _transact(servers, codec)
    return found | _compacted(broker, to_be_compacted)


def rows_of(frame: DataFrame) -> set[Row]:
    """The rows of a frame that was read with headers; none may be there twice."""
    rows = [
        Row(
            each.topic,
            each.partition,
            each.offset,
            round(each.timestamp.timestamp() * 1000),
            each.timestampType,
            _bytes(each.key),
            _bytes(each.value),
            tuple((header.key, _bytes(header.value)) for header in each.headers or ()),
        )
        for each in frame.collect()
    ]
    assert len(rows) == len(set(rows))
    return set(rows)


def _produce(producer: Producer[bytes, bytes], topic: str, codec: str) -> set[Row]:
    sent = []
    for number in range(_ROWS):
        key = None if number % 5 == 0 and topic != COMPACTED else b"%d" % (number % _KEYS)
        value = None if number % 11 == 0 else f"{codec} {number}".encode()
        headers = (("codec", codec.encode()), ("nothing", None))[: number % 3]
        time_ms = _START_MS + number * 1000 * (-1) ** number
        partition = number % _PARTITIONS
        receipt = producer.send(
            *(topic, value),
            key=key,
            partition=partition,
            timestamp_ms=time_ms,
            headers=headers,
        )
        if topic == COMPACTED:
            receipt.result(_DEADLINE_S)  # each alone, or there would be few segments
        sent.append((receipt, Row(topic, partition, -1, time_ms, 0, key, value, headers)))
    return {row._replace(offset=receipt.result(_DEADLINE_S).offset) for receipt, row in sent}


def _transact(servers: str, codec: str) -> set[Row]:
    with Producer[bytes, bytes](
        bootstrap_servers=servers, compression_type=codec, transactional_id=codec
    ) as producer:
        producer.begin_transaction()
        found = _produce(producer, IN_TRANSACTIONS, codec)
        producer.commit_transaction()
        producer.begin_transaction()
        _produce(producer, IN_TRANSACTIONS, codec)
        producer.abort_transaction()
    return found


def _compacted(broker: EmbeddedBroker, produced: set[Row]) -> set[Row]:
    """Those of the rows that are left once compaction is done with all but the last segments."""
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        partitions = broker.records(COMPACTED)
        keys = Counter(
            (partition, each.key)
            for partition, records in partitions.items()
            for each in records[:-_ROWS_PER_SEGMENT_MAX]
        )
        if keys.total() == len(keys):
            break
        assert time.monotonic() < deadline, "the cleaner does not come"
        time.sleep(0.05)
    left = {(number, each.offset) for number, records in partitions.items() for each in records}
    last = {(row.partition, row.key): row.offset for row in sorted(produced, key=_offset)}
    assert {(partition, offset) for (partition, _), offset in last.items()} <= left
    assert len(left) < len(produced)
    return {row for row in produced if (row.partition, row.offset) in left}


def _offset(row: Row) -> int:
    return row.offset


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
