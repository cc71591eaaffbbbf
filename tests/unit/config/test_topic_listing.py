"""Settings of topics as files list them."""

import json

import pytest

from moldau.config.topic import TopicConfig
from moldau.config.topic_listing import ListedTopic, check_topics, parse_topics
from moldau.errors import InvalidConfig

# As Apache Kafka 3.9 prints it; broker: log.retention.hours=1, log.segment.bytes=1048576.
ALL = "All configs for topic orders are:\n" + "".join(
    f"  {setting} sensitive=false synonyms={{{synonyms}}}\n"
    for setting, synonyms in (
        (
            "cleanup.policy=delete,compact",
            "DYNAMIC_TOPIC_CONFIG:cleanup.policy=delete,compact, DEFAULT_CONFIG:log.policy=delete",
        ),
        ("compression.type=producer", "DEFAULT_CONFIG:compression.type=producer"),
        ("follower.replication.throttled.replicas=", ""),
        ("min.insync.replicas=2", "STATIC_BROKER_CONFIG:min.insync.replicas=2"),
        ("retention.ms=3600000", ""),
        ("segment.bytes=1048576", "STATIC_BROKER_CONFIG:log.segment.bytes=1048576"),
    )
)
DYNAMIC = """\
Dynamic configs for topic orders are:
  cleanup.policy=compact sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact}
  retention.ms=-1 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=-1}
Dynamic configs for topic others are:
"""
OLD = """\
Configs for topic 'orders' are retention.ms=5,cleanup.policy=compact,delete,segment.bytes=2000
Configs for topic 'others' are
"""
DEFAULTS = TopicConfig()


def overrides(text: str, defaults: TopicConfig = DEFAULTS) -> dict[str, dict[str, str]]:
    topics = parse_topics(text)
    check_topics(topics, defaults)
    return {name: topic.overrides(defaults) for name, topic in topics.items()}


def refusal(text: str) -> str:
    with pytest.raises(InvalidConfig) as refused:
        overrides(text)
    return str(refused.value)


def test_what_was_set_for_topics_is_what_they_get() -> None:
    orders = {"cleanup.policy": "compact", "retention.ms": "-1"}
    assert overrides(DYNAMIC) == {"orders": orders, "others": {}}


def test_what_a_topic_had_from_its_broker_becomes_its_own_where_it_differs() -> None:
    own = {"cleanup.policy": "delete,compact"}
    assert overrides(ALL) == {"orders": own | {"retention.ms": "3600000"}}
    assert overrides(ALL, TopicConfig(retention_ms=3_600_000)) == {"orders": own}


def test_the_layout_from_before_2_5_is_understood() -> None:
    assert overrides(OLD) == {
        "orders": {
            "retention.ms": "5",
            "cleanup.policy": "compact,delete",
            "segment.bytes": "2000",
        },
        "others": {},
    }


def test_json_has_settings_by_topics() -> None:
    text = json.dumps({"orders": {"retention.ms": -1, "preallocate": False}, "others": {}})
    assert overrides(text) == {
        "orders": {"retention.ms": "-1", "preallocate": "false"},
        "others": {},
    }


def test_json_as_our_own_tool_prints_it_is_understood() -> None:
    configs = {
        "cleanup.policy": {"value": "compact", "source": "TOPIC"},
        "retention.ms": {"value": "5", "source": "STATIC_BROKER"},
        "min.insync.replicas": {"value": "2", "source": "STATIC_BROKER"},
    }
    text = json.dumps([{"type": "topics", "name": "orders", "configs": configs}])
    assert overrides(text) == {"orders": {"cleanup.policy": "compact", "retention.ms": "5"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no topic is listed"),
        ("[]", "no topic is listed"),
        ("orders 5", "line 1 is not what kafka-configs.sh --describe"),
        (DYNAMIC + "ERROR: no broker", "line 5 is not what"),
        (DYNAMIC.partition("\n")[2], "line 1 is not what"),
        ("Dynamic configs for broker 1 are:\n", "line 1 is not what"),
        ("Configs for topic 'orders' are retention", "retention is not a setting with its value"),
        (DYNAMIC * 2, "topic orders is listed twice"),
        ("{", "not JSON"),
        ('{"orders": "compact"}', "topic orders: an object with settings is expected"),
        ('{"orders": {"retention.ms": null}}', "retention.ms: a text or a number is expected"),
        ('[{"type": "brokers", "name": "1"}]', "settings of brokers, not of topics"),
        ("[1]", "an entry of the list: an object"),
        ('{"orders": {"retention.ms": "soon"}}', "topic orders: Invalid value soon"),
        ('{"orders": {"confluent.tier": "1"}}', "topic orders: Unknown topic config name"),
        (ALL.replace("=3600000", "=soon"), "topic orders: Invalid value soon"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(text)


def test_settings_of_other_brokers_that_nobody_set_do_not_matter() -> None:
    topic = ListedTopic(inherited={"confluent.tier": "1", "preallocate": "true"})
    assert topic.overrides(DEFAULTS) == {}
