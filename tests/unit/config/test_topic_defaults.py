"""A topic's settings out of the broker's."""

import pytest

from moldau.config.broker.broker import read_broker_config
from moldau.config.topic import TopicConfig
from moldau.config.topic_defaults import topic_defaults


def _defaults(**texts: str) -> TopicConfig:
    return topic_defaults(
        read_broker_config({name.replace("_", "."): text for name, text in texts.items()})
    )


def test_a_broker_without_settings_gives_kafkas_defaults() -> None:
    assert _defaults() == TopicConfig()


def test_the_finest_unit_counts() -> None:
    assert _defaults(log_retention_hours="2").retention_ms == 7_200_000
    assert _defaults(log_retention_hours="2", log_retention_minutes="3").retention_ms == 180_000
    assert _defaults(log_retention_minutes="3", log_retention_ms="4").retention_ms == 4
    assert _defaults(log_roll_hours="1", log_roll_jitter_hours="2").segment_jitter_ms == 7_200_000


@pytest.mark.parametrize("name", ["log_retention_ms", "log_retention_hours"])
def test_any_negative_age_is_no_limit(name: str) -> None:
    assert _defaults(**{name: "-5"}).retention_ms == -1


def test_the_flush_interval_falls_back_to_the_schedulers() -> None:
    assert _defaults(log_flush_scheduler_interval_ms="9").flush_ms == 9
