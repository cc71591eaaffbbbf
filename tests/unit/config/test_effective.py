"""Effective settings: the layer that counts, described as Apache Kafka describes it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from moldau.config.effective import (
    BrokerLayers,
    EffectiveSetting,
    SettingSource,
    describe_broker,
    describe_cluster,
    describe_topic,
)

Described = tuple[dict[str, dict[str, str]], list[dict[str, object]]]
"""The settings of each layer, and what is described."""
_DESCRIBED = Path(__file__).parent / "apache-3.9-described.jsonl"


@pytest.fixture(scope="module")
def apache() -> Described:
    """What Kafka 3.9's DescribeConfigs answers for the layers in the first line."""
    layers, *entries = map(json.loads, _DESCRIBED.read_text().splitlines())
    return layers, entries


def _as_apache_prints(
    resource: str, entries: Sequence[EffectiveSetting]
) -> dict[str, dict[str, object]]:
    return {
        entry.name: {
            "resource": resource,
            "name": entry.name,
            "value": entry.value,
            "source": entry.source,
            "is_read_only": entry.is_read_only,
            "is_sensitive": entry.is_sensitive,
            "type": entry.type or 0,
            "synonyms": [[o.name, o.value, o.source] for o in entry.synonyms],
        }
        for entry in entries
    }


@pytest.mark.parametrize("resource", ["broker", "cluster", "topic"])
def test_every_setting_is_described_as_apache_kafka_describes_it(
    apache: Described, resource: str
) -> None:
    texts, entries = apache
    layers = BrokerLayers(texts["static"], texts["cluster"], texts["broker"])
    described = {
        "broker": lambda: describe_broker(layers),
        "cluster": lambda: describe_cluster(layers),
        "topic": lambda: describe_topic(texts["topic"], layers),
    }[resource]()
    theirs = {entry["name"]: entry for entry in entries if entry["resource"] == resource}
    ours = _as_apache_prints(resource, described)
    moldau_only = {name for name in ours if name.startswith("moldau.")}
    assert {name: ours[name] for name in ours if name not in moldau_only} == theirs


def test_asked_for_names_are_described_and_no_others() -> None:
    layers = BrokerLayers({}, {"max.connections": "5"})
    assert [e.name for e in describe_broker(layers, ["broker.id", "nosuch"])] == ["broker.id"]
    assert [e.name for e in describe_cluster(layers, ["nosuch"])] == []
    assert [e.name for e in describe_topic({}, layers, ["preallocate"])] == ["preallocate"]


def test_a_broker_without_zookeeper_has_defaults_for_one_broker() -> None:
    (entry,) = describe_broker(BrokerLayers({}), ["offsets.topic.replication.factor"])
    assert (entry.value, entry.source) == ("1", SettingSource.DEFAULT_CONFIG)
    clustered = BrokerLayers({"zookeeper.connect": "h:2181"})
    (entry,) = describe_broker(clustered, ["offsets.topic.replication.factor"])
    assert (entry.value, entry.source) == ("3", SettingSource.DEFAULT_CONFIG)


def test_a_topic_default_follows_the_brokers_dynamic_setting() -> None:
    layers = BrokerLayers({"log.retention.hours": "1"}, cluster={"log.retention.ms": "7"})
    assert layers.topic_defaults.retention_ms == 7
    assert BrokerLayers({"log.retention.hours": "1"}).topic_defaults.retention_ms == 3_600_000


def test_secrets_are_not_shown() -> None:
    layers = BrokerLayers({"ssl.key.password": "hush", "plugin.secret": "hush"})
    shown = repr([e for e in describe_broker(layers) if "hush" in repr(e)])
    assert shown == "[]"
