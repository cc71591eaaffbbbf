"""Warnings about settings without effect."""

import pytest

from moldau.config.broker.advice import ignored_changes, warnings
from moldau.config.effective import BrokerLayers


def test_known_settings_are_not_mentioned() -> None:
    texts = {"broker.id": "1", "listener.name.external.max.connections": "7"}
    assert list(warnings(texts)) == []


@pytest.mark.parametrize("name", ["sasl.jaas.config", "listener.name.external.sasl.jaas.config"])
def test_a_login_module_needs_its_mechanism(name: str) -> None:
    (told,) = warnings({name: "x"})
    assert told.startswith(f"{name} has no effect: it needs a listener and a mechanism")
    assert not list(warnings({"listener.name.external.plain.sasl.jaas.config": "x"}))


def test_an_unknown_setting_is_named_without_its_value() -> None:
    assert list(warnings({"plugin.token": "hush"})) == ["plugin.token is not a known setting"]


def test_a_setting_of_an_older_kafka_is_told_its_successor() -> None:
    assert list(warnings({"port": "9092"})) == ["port is not used any more: use listeners"]


def test_a_java_class_is_not_loaded() -> None:
    (told,) = warnings({"create.topic.policy.class.name": "org.Example", "metric.reporters": ""})
    assert told == "create.topic.policy.class.name has no effect: Java classes cannot be loaded"


def test_a_setting_that_changes_nothing_is_told_unless_it_is_the_default() -> None:
    texts = {"queued.max.requests": "500", "num.io.threads": "16", "log.preallocate": "true"}
    assert list(warnings(texts)) == [
        "num.io.threads has no effect: one event loop does the work of Kafka's threads",
        "log.preallocate has no effect: segments grow as they are written",
    ]


def test_listeners_that_are_changed_while_the_broker_runs_are_told() -> None:
    static = {"listeners": "PLAINTEXT://:9092"}
    assert list(ignored_changes(BrokerLayers(static, broker={"background.threads": "3"}))) == []
    assert list(ignored_changes(BrokerLayers(static, broker=static))) == []
    changed = BrokerLayers(static, broker={"advertised.listeners": "PLAINTEXT://other:1"})
    assert list(ignored_changes(changed)) == [
        "advertised.listeners is only read at start: set it in the properties file, and restart"
    ]
