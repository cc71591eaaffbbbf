"""A worker knows how many partitions a topic has, and asks again after a while."""

import pytest

from moldau.client.blocking.admin import Admin
from moldau.spark import topic_sizes
from moldau.spark.topic_sizes import partition_count
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic
from unit.spark.in_transactions import sink_options


def test_brokers_are_asked_once_in_a_while(
    kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_topic(kafka, "t", 3)
    options = sink_options(kafka)
    assert partition_count("t", options) == 3
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_partitions({"t": 5}).check()
    assert partition_count("t", options) == 3
    monkeypatch.setattr(topic_sizes, "COUNT_AGE_MAX_MS", -1)
    assert partition_count("t", options) == 5
