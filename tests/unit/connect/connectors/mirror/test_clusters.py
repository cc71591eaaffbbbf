"""Each client gets its settings, by their prefixes."""

import pytest

from moldau.connect.connectors.mirror import clusters
from moldau.connect.errors import ConfigError

CONFIG = {
    "source.cluster.alias": "old",
    "source.cluster.bootstrap.servers": "old:9092",
    "source.cluster.sasl.jaas.config": "secret",
    "source.cluster.max.poll.records": "7",
    "consumer.poll.timeout.ms": "5",
    "consumer.fetch.min.bytes": "1",
    "source.consumer.fetch.min.bytes": "2",
    "consumer.override.fetch.min.bytes": "3",
    "admin.retries": "4",
    "producer.linger.ms": "6",
    "target.cluster.alias": "new",
    "target.cluster.security.protocol": "SSL",
    "target.admin.retries": "8",
}


def test_the_source_has_clients_of_three_kinds() -> None:
    shared = {"bootstrap.servers": "old:9092", "sasl.jaas.config": "secret"}
    assert clusters.source_consumer(CONFIG) == {
        **shared,
        "max.poll.records": "7",
        "fetch.min.bytes": "2",
        "isolation.level": "read_committed",
        "auto.offset.reset": "none",
        "enable.auto.commit": False,
        "allow.auto.create.topics": "false",
    }
    assert clusters.source_admin(CONFIG) == {**shared, "retries": "4"}
    assert clusters.source_producer(CONFIG) == {**shared, "linger.ms": "6"}


def test_the_target_is_the_workers_cluster_unless_it_is_said_otherwise() -> None:
    home = {"bootstrap.servers": "new:9092", "security.protocol": "PLAINTEXT"}
    found = clusters.target_admin(CONFIG, home)
    assert found == {"bootstrap.servers": "new:9092", "security.protocol": "SSL", "retries": "8"}
    consumer = clusters.target_consumer(CONFIG, home)
    assert (consumer["security.protocol"], consumer["auto.offset.reset"]) == ("SSL", "earliest")


def test_uncommitted_records_are_read_only_if_that_is_wanted() -> None:
    given = {**CONFIG, "consumer.isolation.level": "read_uncommitted"}
    assert clusters.source_consumer(given)["isolation.level"] == "read_uncommitted"


def test_where_to_begin_is_earliest_or_latest() -> None:
    assert clusters.first_offset(CONFIG) == "earliest"
    given = {**CONFIG, "source.consumer.auto.offset.reset": "latest"}
    assert clusters.first_offset(given) == "latest"
    assert clusters.source_consumer(given)["auto.offset.reset"] == "none"
    with pytest.raises(ConfigError, match="none is neither earliest nor latest"):
        clusters.first_offset({"consumer.auto.offset.reset": "none"})


def test_the_address_may_stand_under_a_shorter_name_and_must_be_there() -> None:
    assert clusters.source_admin({"source.bootstrap.servers": "s:1"})["bootstrap.servers"] == "s:1"
    with pytest.raises(ConfigError, match=r"source\.cluster\.bootstrap\.servers"):
        clusters.source_admin({})
