"""A sample has the newest records of every partition, and makes no topic."""

import pytest

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.errors import KafkaError
from moldau.streams.sql.sampling import RECORDS_MAX, sampled
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic


def test_the_newest_records_of_every_partition_are_taken(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "lines", 2)
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(RECORDS_MAX):
            producer.send("lines", b"%d" % number, partition=0)
        producer.send("lines", b"other", partition=1)
    found = sampled({"bootstrap.servers": kafka.bootstrap_servers}, "lines")
    values = [each.value for each in found]
    assert len(values) == RECORDS_MAX // 2 + 1
    assert b"other" in values
    assert b"%d" % (RECORDS_MAX - 1) in values
    assert b"0" not in values


def test_a_topic_without_records_gives_none_and_none_is_made(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "empty")
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    assert sampled(settings, "empty") == []
    with pytest.raises(KafkaError, match="nowhere"):
        sampled(settings, "nowhere")
    with Admin(settings) as admin:
        assert "nowhere" not in admin.list_topics()
