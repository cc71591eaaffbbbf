"""Groups of topics have what they are made with."""

import pytest

from moldau.connect.config.topic_creation import topic_rules
from moldau.connect.errors import ConfigError

DEFAULT = {
    "topic.creation.default.replication.factor": "-1",
    "topic.creation.default.partitions": "3",
}
GROUP = {
    "topic.creation.groups": "compacted",
    "topic.creation.compacted.include": r"shop\..*, t",
    "topic.creation.compacted.exclude": r".*\.log",
    "topic.creation.compacted.cleanup.policy": "compact",
}


def test_without_settings_it_is_left_to_the_brokers() -> None:
    assert topic_rules({"topic": "t"}) == []


def test_the_first_group_that_covers_a_topic_has_its_settings() -> None:
    compacted, default = topic_rules({**DEFAULT, **GROUP})
    assert compacted.covers("shop.orders")
    assert compacted.covers("t")
    assert not compacted.covers("shop.log")
    assert not compacted.covers("a-shop.orders")
    assert (compacted.partitions, compacted.replication_factor) == (3, -1)
    assert compacted.configs == {"cleanup.policy": "compact"}
    assert default.covers("anything")
    assert default.configs == {}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (GROUP, "topic.creation.default.replication.factor"),
        ({**DEFAULT, "topic.creation.default.partitions": "0"}, "at least 1, or -1"),
        ({**DEFAULT, "topic.creation.groups": "a"}, "topic.creation.a.include: which topics"),
        ({**DEFAULT, "topic.creation.groups": "default"}, "is always there"),
        ({**DEFAULT, **GROUP, "topic.creation.compacted.include": "("}, "compacted.include"),
    ],
)
def test_what_is_wrong_is_named(config: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        topic_rules(config)
