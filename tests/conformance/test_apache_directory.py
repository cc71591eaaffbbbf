"""A log directory that Apache Kafka filled, served by our broker on an empty store."""

import asyncio
from pathlib import Path

from confluent_kafka import Consumer, Message, Producer, TopicCollection
from confluent_kafka.admin import AdminClient

from conformance.apache.broker import apache_broker
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from moldau.cli.znodes.topic_settings import read_topics
from moldau.config.broker.startup import read_startup
from moldau.config.topic import TopicConfig
from moldau.config.topic_listing import check_topics, parse_topics
from moldau.testing.broker import running_broker

pytestmark = needs_apache("kafka-3.9")

COUNT = 300
DEADLINE_S = 30


def consume(bootstrap: str, topic: str, *, group: str) -> list[tuple[int, int, int, bytes | None]]:
    """Everything that a group has not read; its place is committed."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.subscribe([topic])
    rows: list[tuple[int, int, int, bytes | None]] = []
    ended: set[int | None] = set()
    while len(ended) < 2:
        message: Message | None = consumer.poll(DEADLINE_S)
        assert message is not None, f"only {len(rows)} records came"
        if message.error():
            ended.add(message.partition())
        else:
            place = (message.partition() or 0, message.offset() or 0)
            rows.append((*place, message.timestamp()[1], message.value()))
    if rows:
        consumer.commit(asynchronous=False)
    consumer.close()
    return sorted(rows)


def produce(bootstrap: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": "zstd"})
    for number in range(count):
        producer.produce(topic, value=b"%d" % number, partition=number % 2)
    assert producer.flush(DEADLINE_S) == 0


def test_topics_ids_records_and_committed_offsets_are_taken_over(tmp_path: Path) -> None:
    settings = {"auto.create.topics.enable": "true", "num.partitions": "2"}
    with apache_broker(tmp_path, settings) as apache:
        apache.start()
        produce(apache.bootstrap, "orders", COUNT)
        theirs = consume(apache.bootstrap, "orders", group="audit")
        apache.stop()
        directory = apache.log_directory
    assert len(theirs) == COUNT

    with running_broker({"broker.id": "1"}, directory=directory) as kafka:
        assert consume(kafka.bootstrap_servers, "orders", group="another") == theirs
        # What the group had committed at Apache's broker is known here.
        assert consume(kafka.bootstrap_servers, "orders", group="audit") == []
        produce(kafka.bootstrap_servers, "orders", 2)
        more = consume(kafka.bootstrap_servers, "orders", group="audit")
        assert [(partition, offset) for partition, offset, *_ in more] == [(0, 150), (1, 150)]
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        described = admin.describe_topics(TopicCollection(["orders"]))["orders"].result(DEADLINE_S)
        # librdkafka prints ids in the other alphabet of base64.
        topic_id = str(described.topic_id).replace("+", "-").replace("/", "_")
        assert topic_id in (directory / "orders-0" / "partition.metadata").read_text()


def test_settings_of_topics_are_read_as_apaches_tool_and_zookeeper_tell_them(
    tools: ApacheTools, tmp_path: Path
) -> None:
    with apache_broker(tmp_path, {"log.retention.hours": "1"}) as apache:
        apache.start()
        where = ("--bootstrap-server", apache.bootstrap)
        for topic, settings in (("plain", ()), ("table", ("cleanup.policy=compact",))):
            configs = [word for setting in settings for word in ("--config", setting)]
            create = ("--create", "--topic", topic, *configs)
            made = tools.run("kafka-topics.sh", *where, *create)
            assert made.code == 0, made.stderr
        configure, topics = "kafka-configs.sh", ("--entity-type", "topics")
        dynamic = ("--entity-type", "brokers", "--entity-default")
        change = ("--alter", *dynamic, "--add-config", "message.max.bytes=2000000")
        assert tools.run(configure, *where, *change).code == 0
        told = [
            tools.run(configure, *where, "--describe", *all_of_it, *topics).stdout
            for all_of_it in ([], ["--all"])
        ]
        there = asyncio.run(
            read_topics(f"127.0.0.1:{apache.zookeeper_port}", read_startup({"log.dirs": "/logs"}))
        )
    found = [{**parse_topics(text)} for text in told] + [there]
    for each in found:
        check_topics(each, TopicConfig())
        assert {"plain", "table"} <= set(each)
    own, inherited, nodes = (
        {name: listed.overrides(TopicConfig()) for name, listed in each.items()} for each in found
    )
    larger = {"max.message.bytes": "2000000"}
    assert (own["plain"], own["table"]) == ({}, {"cleanup.policy": "compact"})
    assert inherited["plain"] == larger | {"retention.ms": "3600000"}
    assert inherited["table"] == inherited["plain"] | {"cleanup.policy": "compact"}
    assert (nodes["plain"], nodes["table"]) == (larger, larger | {"cleanup.policy": "compact"})
