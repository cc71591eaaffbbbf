"""Topic settings: Kafka's names, defaults and rules."""

import pytest

from moldau.config.topic import TopicConfig, topic_settings
from moldau.config.values import LONG_MAX
from moldau.errors import ErrorCode, InvalidConfig
from unit.config.conftest import Table


def test_cleanup_policy_takes_both_policies_in_any_order() -> None:
    config = TopicConfig().with_overrides({"cleanup.policy": "compact, delete"})
    assert config.is_compacted
    assert config.is_deleted_by_retention
    assert not TopicConfig().is_compacted


def test_an_override_leaves_the_other_settings_at_the_broker_defaults() -> None:
    broker_defaults = TopicConfig(retention_ms=5, segment_bytes=100)
    config = broker_defaults.with_overrides({"retention.ms": "-1"})
    assert (config.retention_ms, config.segment_bytes) == (-1, 100)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"retention.ms": "-2"}, "value -2 for configuration retention.ms: must be at least -1"),
        ({"segment.bytes": "4e9"}, "4e9 for configuration segment.bytes: must be a whole number"),
        ({"segment.bytes": "13"}, "must be at least 14"),
        ({"cleanup.policy": "compact,shred"}, "must be one of compact, delete"),
        ({"preallocate": "yes"}, "must be true or false"),
        ({"min.cleanable.dirty.ratio": "1.5"}, "must be between 0 and 1"),
        ({"compression.gzip.level": "0"}, "between 1 and 9, or -1"),
        ({"message.format.version": "2.4-IV9"}, "message.format.version"),
        ({"retention.m": "1"}, "Unknown topic config name: retention.m; did you mean retention.ms"),
        ({"zzz": "1"}, r"Unknown topic config name: zzz(\n|$)"),
        ({"remote.storage.enable": "true"}, "tiered storage is not available"),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            r"min.compaction.lag.ms \(10\) must not be greater than max.compaction.lag.ms \(5\)",
        ),
    ],
)
def test_a_refused_value_is_named_with_what_is_allowed(
    overrides: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidConfig, match=words) as refused:
        TopicConfig().with_overrides(overrides)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("text", ["*", "", "0:1,5:102"])
def test_throttled_replicas_are_pairs_or_a_star(text: str) -> None:
    config = TopicConfig().with_overrides({"leader.replication.throttled.replicas": text})
    assert ",".join(config.leader_replication_throttled_replicas) == text


@pytest.mark.parametrize("text", ["*,0:1", "0", "0:1:2", "a:b", "0:", "0:-1"])
def test_other_throttled_replicas_are_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="pairs partition:broker"):
        TopicConfig().with_overrides({"follower.replication.throttled.replicas": text})


def test_the_deprecated_timestamp_limit_counts_where_the_new_ones_are_not_set() -> None:
    config = TopicConfig(message_timestamp_difference_max_ms=7)
    assert (config.timestamp_before_limit_ms, config.timestamp_after_limit_ms) == (7, 7)
    config = TopicConfig(
        message_timestamp_difference_max_ms=7,
        message_timestamp_before_max_ms=8,
        message_timestamp_after_max_ms=9,
    )
    assert (config.timestamp_before_limit_ms, config.timestamp_after_limit_ms) == (8, 9)
    assert TopicConfig().timestamp_before_limit_ms == LONG_MAX


def test_every_setting_is_explained() -> None:
    for setting in topic_settings().values():
        assert setting.doc.endswith("."), setting.name


def test_names_types_defaults_and_ranges_are_those_of_apache_kafka(
    apache_topic_settings: Table,
) -> None:
    ours = {
        name: (
            setting.type.name,
            setting.default_text,
            setting.importance.upper(),
            setting.rule.notation if setting.rule else None,
        )
        for name, setting in topic_settings().items()
    }
    theirs = {
        name: (row["type"], row["default"], row["importance"], row["validator"])
        for name, row in apache_topic_settings.items()
    }
    assert ours == theirs


def test_with_everything_kept_nothing_is_deleted_or_compacted() -> None:
    config = TopicConfig(cleanup_policy=("compact", "delete"), segment_bytes=2000)
    kept = config.keeping_everything()
    assert (kept.is_compacted, kept.is_deleted_by_retention) == (False, False)
    assert kept.segment_bytes == 2000


@pytest.mark.parametrize(
    ("policy", "may_have_holes"),
    [(("delete",), False), (("compact",), True), (("compact", "delete"), True), ((), True)],
)
def test_a_log_that_is_deleted_from_its_start_has_no_holes(
    policy: tuple[str, ...], may_have_holes: bool
) -> None:
    assert TopicConfig(cleanup_policy=policy).may_have_holes is may_have_holes
