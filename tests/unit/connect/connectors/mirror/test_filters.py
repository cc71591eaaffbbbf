"""Names are chosen by lists of patterns."""

import pytest

from moldau.connect.config.definition import kafka_settings
from moldau.connect.connectors.mirror.filters import (
    GROUPS_EXCLUDE,
    PROPERTIES_EXCLUDE,
    TOPICS_EXCLUDE,
    NameFilter,
    excluded_properties,
)
from moldau.connect.errors import ConfigError

_MIRROR = "org.apache.kafka.connect.mirror"


def taken(config: dict[str, str], *names: str) -> list[str]:
    found = NameFilter.of(config, "topics", TOPICS_EXCLUDE)
    return [each for each in names if found.takes(each)]


def test_patterns_are_for_whole_names_and_excluding_comes_first() -> None:
    names = ("a", "ab", "b", "a.internal", "__a")
    assert taken({}, *names) == ["a", "ab", "b"]
    assert taken({"topics": "a, b.*"}, *names) == ["a", "b"]
    assert taken({"topics": "a.*", "topics.exclude": "ab"}, *names) == ["a", "a.internal"]
    assert taken({"topics.blacklist": "a.*"}, *names) == ["b", "__a"]
    assert taken({"topics": ""}, *names) == []
    assert taken({"topics.exclude": ""}, *names) == list(names)


def test_settings_of_topics_are_left_out() -> None:
    assert excluded_properties({}).fullmatch("min.insync.replicas")
    assert not excluded_properties({}).fullmatch("retention.ms")
    assert excluded_properties({"config.properties.exclude": "retention.*"}).fullmatch(
        "retention.ms"
    )


def test_the_defaults_are_those_of_mirror_maker() -> None:
    defaults = {
        each.name: each.default
        for connector in ("Source", "Checkpoint")
        for each in kafka_settings(f"{_MIRROR}.Mirror{connector}Connector")
    }
    assert defaults["topics.exclude"] == TOPICS_EXCLUDE
    assert defaults["groups.exclude"] == GROUPS_EXCLUDE
    assert defaults["config.properties.exclude"] == PROPERTIES_EXCLUDE


def test_what_is_no_pattern_is_named() -> None:
    with pytest.raises(ConfigError, match=r"topics: a, \(b is no pattern"):
        taken({"topics": "a, (b"})
    with pytest.raises(ConfigError, match=r"topics\.exclude"):
        taken({"topics.exclude": "["})
