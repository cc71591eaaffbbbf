"""Java's kafka-clients, old, of Kafka 3.9 and newest, against our broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram, Json, nullable_from_base64
from conformance.apache.marks import needs_apache
from conformance.conftest import show_download
from conformance.our_broker import OurBroker, our_broker
from conformance.sent import CODECS, Sent, big_record, records

VERSIONS = {
    "2.1": ("clients-2.1", "json"),
    "3.9": ("kafka-3.9",),
    "4": ("clients-4", "json"),
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=needs_apache(*VERSIONS[name])) for name in VERSIONS],
)
def clients(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    for section in VERSIONS[request.param]:
        show_download(request, section)
    with JavaProgram("traffic", *VERSIONS[request.param]) as program:
        program.version = request.param  # type: ignore[attr-defined]
        yield program


def topic_of(clients: JavaProgram, name: str) -> str:
    """A topic of its own for each version."""
    return f"{name}-{clients.version}"  # type: ignore[attr-defined]


def produce(
    clients: JavaProgram, broker: OurBroker, topic: str, rows: list[Sent], **settings: str
) -> int:
    """Send and wait; returns the last offset."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    offset: int = clients.call(
        "produce",
        bootstrap=broker.bootstrap,
        topic=topic,
        partition=0,
        producer=f"{topic}-producer",
        settings={"linger.ms": "5", **named},
        records=[[row.timestamp_ms, row.key, row.value, row.headers] for row in rows],
    )
    return offset


def consume(
    clients: JavaProgram,
    broker: OurBroker,
    topic: str,
    *,
    isolation_level: str = "read_uncommitted",
) -> list[Sent]:
    rows = clients.call(
        "consume",
        bootstrap=broker.bootstrap,
        topic=topic,
        partition=0,
        settings={"max.partition.fetch.bytes": "10000000", "isolation.level": isolation_level},
    )
    return [_sent(row) for row in rows]


def _sent(row: Json) -> Sent:
    _, timestamp_ms, key, value, headers = row
    return Sent(
        nullable_from_base64(key),
        nullable_from_base64(value),
        timestamp_ms,
        tuple((name, nullable_from_base64(content)) for name, content in headers),
    )


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_there_and_back(clients: JavaProgram, broker: OurBroker, codec: str) -> None:
    topic, rows = topic_of(clients, f"codec-{codec}"), records()
    assert produce(clients, broker, topic, rows, compression_type=codec) == len(rows) - 1
    assert consume(clients, broker, topic) == rows


def test_an_idempotent_producer(clients: JavaProgram, broker: OurBroker) -> None:
    topic, rows = topic_of(clients, "idempotent"), records()
    produce(clients, broker, topic, rows, enable_idempotence="true", acks="all")
    assert consume(clients, broker, topic) == rows


def test_a_message_of_several_megabytes(clients: JavaProgram, broker: OurBroker) -> None:
    topic, row = topic_of(clients, "big"), big_record()
    produce(clients, broker, topic, [row], max_request_size="10000000")
    assert consume(clients, broker, topic) == [row]


def test_a_topic_is_created_with_settings(clients: JavaProgram, broker: OurBroker) -> None:
    topic = topic_of(clients, "created")
    clients.call(
        "create_topic",
        bootstrap=broker.bootstrap,
        topic=topic,
        partition_count=3,
        config={"message.timestamp.type": "LogAppendTime"},
    )
    produce(clients, broker, topic, [Sent(None, b"old", 0)])
    (row,) = consume(clients, broker, topic)
    assert row.timestamp_ms > 1_700_000_000_000
    assert (broker.log_directory / f"{topic}-2").is_dir()


def test_topics_and_groups_are_administered(clients: JavaProgram, broker: OurBroker) -> None:
    topic = topic_of(clients, "administered")
    setting = {"message.timestamp.type": "LogAppendTime"}
    where = {"bootstrap": broker.bootstrap, "topic": topic}
    clients.call("create_topic", **where, partition_count=1, config=setting)
    produce(clients, broker, topic, records(10))
    grouped(clients, broker, topic, 10)
    assert clients.call("administer", **where, group=topic) == {
        "low_watermark": 4,
        "timestamp_type": "LogAppendTime",
        "is_default": True,
        "members": 0,
        "is_listed": True,
        "offsets": {f"{topic}-0": 10},
        "is_left": False,
        "controller": 0,
        "node": 0,
        "is_gone": True,
    }


def test_a_group_remembers_where_it_was(clients: JavaProgram, broker: OurBroker) -> None:
    topic, rows = topic_of(clients, "grouped"), records(50)
    produce(clients, broker, topic, rows)
    assert grouped(clients, broker, topic, 50) == rows
    later = Sent(None, b"later", 1_700_000_000_000)
    produce(clients, broker, topic, [later])
    assert grouped(clients, broker, topic, 1) == [later]


def grouped(clients: JavaProgram, broker: OurBroker, topic: str, count: int) -> list[Sent]:
    settings = {
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "session.timeout.ms": "6000",
    }
    rows = clients.call(
        "consume_in_group",
        bootstrap=broker.bootstrap,
        topic=topic,
        count=count,
        settings=settings,
    )
    return [_sent(row) for row in rows]


def test_a_transaction_is_seen_when_it_is_committed(
    clients: JavaProgram, broker: OurBroker
) -> None:
    topic, rows = topic_of(clients, "transactions"), records(9)
    transaction = {
        "bootstrap": broker.bootstrap,
        "producer": f"{topic}-producer",
        "settings": {"transactional.id": topic},
    }
    for number, ending in enumerate(["commit", "abort", "commit"]):
        clients.call("begin", **transaction)
        produce(clients, broker, topic, rows[3 * number : 3 * number + 3])
        clients.call(ending, **transaction)
    assert consume(clients, broker, topic, isolation_level="read_committed") == rows[:3] + rows[6:]
    assert consume(clients, broker, topic) == rows


def test_a_producer_goes_on_after_a_restart(clients: JavaProgram, tmp_path: Path) -> None:
    topic, rows = topic_of(clients, "restarts"), records(100)
    with our_broker(tmp_path) as broker:
        produce(clients, broker, topic, rows[:50])
        broker.stop()
        broker.start()
        produce(clients, broker, topic, rows[50:])
        assert consume(clients, broker, topic) == rows
