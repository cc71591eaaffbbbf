"""Warnings about settings without effect."""

from moldau.config.broker.advice import warnings


def test_known_settings_are_not_mentioned():
    texts = {"broker.id": "1", "listener.name.external.plain.sasl.jaas.config": "x"}
    assert list(warnings(texts)) == []


def test_an_unknown_setting_is_named_without_its_value():
    assert list(warnings({"plugin.token": "hush"})) == ["plugin.token is not a known setting"]


def test_a_setting_of_an_older_kafka_is_told_its_successor():
    assert list(warnings({"port": "9092"})) == ["port is not used any more: use listeners"]


def test_a_java_class_is_not_loaded():
    (told,) = warnings({"create.topic.policy.class.name": "org.Example", "metric.reporters": ""})
    assert told == "create.topic.policy.class.name has no effect: Java classes cannot be loaded"
