"""Alterations of dynamic settings."""

import json
from pathlib import Path

import pytest

from moldau.config.alteration import Alteration, AlterOperation, alter, check_broker_overrides
from moldau.config.effective import BrokerLayers
from moldau.config.topic import topic_settings
from moldau.errors import InvalidConfig, InvalidRequest

_APACHE = Path(__file__).parent / "apache-3.9-dynamic.jsonl"
_THROTTLED = "leader.replication.throttled.replicas"
SET, DELETE, APPEND, SUBTRACT = AlterOperation


@pytest.mark.parametrize(
    ("current", "alteration", "changed"),
    [
        ({}, ("cleanup.policy", APPEND, "compact"), {"cleanup.policy": "delete,compact"}),
        ({}, ("cleanup.policy", APPEND, "delete"), {"cleanup.policy": "delete"}),
        (
            {"cleanup.policy": "compact"},
            ("cleanup.policy", APPEND, "delete,compact,x,x"),
            {"cleanup.policy": "compact,delete,x,x"},
        ),
        (
            {"cleanup.policy": ""},
            ("cleanup.policy", APPEND, "delete"),
            {"cleanup.policy": "delete"},
        ),
        ({}, (_THROTTLED, APPEND, "0:1"), {_THROTTLED: "0:1"}),
        ({_THROTTLED: "0:1, 1:2"}, (_THROTTLED, APPEND, "1:2"), {_THROTTLED: "0:1, 1:2,1:2"}),
        ({_THROTTLED: "0:1,1:2"}, (_THROTTLED, SUBTRACT, "1:2"), {_THROTTLED: "0:1"}),
        ({_THROTTLED: "0:1,1:2,1:2"}, (_THROTTLED, SUBTRACT, "1:2,0:1"), {_THROTTLED: "1:2"}),
        ({}, ("cleanup.policy", SUBTRACT, "delete"), {"cleanup.policy": ""}),
        ({}, ("cleanup.policy", SUBTRACT, "compact"), {"cleanup.policy": "delete"}),
        ({"retention.ms": "1"}, ("retention.ms", DELETE, None), {}),
        ({}, ("retention.ms", DELETE, None), {}),
        ({"retention.ms": "1"}, ("retention.ms", SET, "2"), {"retention.ms": "2"}),
    ],
)
def test_changes_have_the_effect_that_they_have_in_apache_kafka(
    current: dict[str, str],
    alteration: tuple[str, AlterOperation, str | None],
    changed: dict[str, str],
) -> None:
    assert alter(current, [Alteration(*alteration)], topic_settings()) == changed


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_only_lists_can_be_added_to_and_taken_from(operation: AlterOperation) -> None:
    with pytest.raises(InvalidConfig, match=r"is not allowed for config key: retention.ms"):
        alter({}, [Alteration("retention.ms", operation, "5")], topic_settings())
    with pytest.raises(InvalidConfig, match="Unknown config name: nosuch"):
        alter({}, [Alteration("nosuch", operation, "5")], topic_settings())


def test_one_setting_is_changed_once_in_a_request() -> None:
    twice = [Alteration("retention.ms", SET, "1"), Alteration("retention.ms", DELETE)]
    with pytest.raises(InvalidRequest, match="duplicate config keys"):
        alter({}, twice, topic_settings())


def test_a_change_needs_a_value() -> None:
    with pytest.raises(InvalidRequest, match=r"Null value not supported for : retention.ms"):
        alter({}, [Alteration("retention.ms", SET)], topic_settings())


def test_dynamic_broker_settings_are_refused_where_apache_kafka_refuses_them() -> None:
    for line in _APACHE.read_text().splitlines():
        texts, is_for_one_broker, is_accepted = json.loads(line)
        layers = BrokerLayers(
            {},
            cluster={} if is_for_one_broker else texts,
            broker=texts if is_for_one_broker else {},
        )
        try:
            check_broker_overrides(layers, is_for_one_broker=is_for_one_broker)
            accepts = True
        except InvalidConfig:
            accepts = False
        assert accepts == is_accepted, (texts, is_for_one_broker)


def test_a_dynamic_change_must_fit_the_static_settings() -> None:
    layers = BrokerLayers({"listeners": "PLAINTEXT://:1"}, broker={"listeners": "SSL://:1"})
    with pytest.raises(InvalidConfig, match=r"security.inter.broker.protocol"):
        check_broker_overrides(layers, is_for_one_broker=True)
