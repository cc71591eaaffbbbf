"""Topics of the target are made and kept as those of the source are."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.connectors.mirror.topics import (
    ChosenTopic,
    TargetTopics,
    TopicChoice,
    chosen_topics,
    make_compacted,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.connect.connectors.mirror.mirrored import Clusters, create, partitions_of, place

POLICY = ReplicationPolicy("old", "new")


@contextmanager
def target(clusters: Clusters, **config: str) -> Iterator[tuple[TargetTopics, Admin]]:
    named = {name.replace("_", "."): text for name, text in config.items()}
    with (
        Admin(bootstrap_servers=clusters.old.bootstrap_servers) as source,
        Admin(bootstrap_servers=clusters.new.bootstrap_servers) as admin,
    ):
        yield TargetTopics(named, source, admin), admin


def shown(admin: Admin, topic: str, name: str) -> str | None:
    resource = ConfigResource.topic(topic)
    return admin.describe_configs([resource])[resource][name].value


def test_heartbeats_are_always_taken_and_internal_topics_never() -> None:
    choice = TopicChoice({"topics": ".*"}, POLICY)
    names = ("a", "new.a", "__consumer_offsets", "mm2-configs.old.internal", "third.heartbeats")
    assert [each for each in names if choice.takes(each)] == ["a", "third.heartbeats"]
    none = TopicChoice({"topics": "none"}, POLICY)
    assert [each for each in (*names, "heartbeats") if none.takes(each)] == [
        "third.heartbeats",
        "heartbeats",
    ]


def test_topics_are_found_with_their_partitions(clusters: Clusters) -> None:
    create(clusters.old, "found", 2)
    with Admin(bootstrap_servers=clusters.old.bootstrap_servers) as admin:
        found = chosen_topics(admin, TopicChoice({"topics": "found"}, POLICY), POLICY)
    assert found == [ChosenTopic("found", "old.found", 2)]
    assert list(found[0].places()) == [place("found", 0), place("found", 1)]


def test_they_have_as_many_replicas_as_there_are_brokers(clusters: Clusters) -> None:
    create(clusters.old, "few", 2, segment_bytes="1048576")
    with target(clusters, replication_factor="3") as (topics, admin):
        for _ in range(2):
            topics.bring_into_line([ChosenTopic("few", "old.few", 2)])
        [first, _] = admin.describe_topics("old.few")["old.few"].partitions
        assert len(first.replicas) == 1
        assert shown(admin, "old.few", "segment.bytes") == "1048576"


def test_settings_are_those_of_the_source_again(clusters: Clusters) -> None:
    create(clusters.old, "again", retention_ms="5000")
    with target(clusters) as (topics, admin):
        topics.bring_into_line([ChosenTopic("again", "old.again", 1)])
        resource = ConfigResource.topic("old.again")
        ours = {"retention.ms": "1", "segment.ms": "7777", "min.insync.replicas": "2"}
        admin.incremental_alter_configs({resource: ours}).check()
        topics.bring_into_line([ChosenTopic("again", "old.again", 1)])
        names = ("retention.ms", "segment.ms", "min.insync.replicas")
        found = [shown(admin, "old.again", name) for name in names]
        assert found == ["5000", "604800000", "2"], "the last one is not theirs to say"


def test_settings_of_topics_that_are_there_stay_if_that_is_wanted(clusters: Clusters) -> None:
    create(clusters.old, "stay", 3, retention_ms="5000")
    with target(clusters, sync_topic_configs_enabled="false") as (topics, admin):
        admin.create_topics([NewTopic("old.stay", 2)]).check()
        topics.bring_into_line([ChosenTopic("stay", "old.stay", 3)])
        assert shown(admin, "old.stay", "retention.ms") == "604800000"
        create(clusters.old, "fresh", retention_ms="5000")
        topics.bring_into_line([ChosenTopic("fresh", "old.fresh", 1)])
        assert shown(admin, "old.fresh", "retention.ms") == "5000"
    assert partitions_of(clusters.new, "old.stay") == 3


def test_settings_that_are_refused_are_named_and_topics_that_are_refused_fail(
    clusters: Clusters, caplog: pytest.LogCaptureFixture
) -> None:
    create(clusters.old, "refused", retention_ms="5000")
    chosen = [ChosenTopic("refused", "old.refused", 1)]
    refuse = Fail(ErrorCode.POLICY_VIOLATION)
    with target(clusters) as (topics, admin):
        end = clusters.new.control("CreateTopics", lambda _: refuse)
        with pytest.raises(KafkaError, match=r"old\.refused cannot be made"):
            topics.bring_into_line(chosen)
        end()
        end = clusters.new.control("IncrementalAlterConfigs", lambda _: refuse)
        with caplog.at_level(logging.WARNING):
            topics.bring_into_line(chosen)
        end()
        assert "settings of topic old.refused stay as they are" in caplog.text
        assert shown(admin, "old.refused", "retention.ms") == "604800000"


def test_internal_topics_are_compacted(old: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
        for _ in range(2):
            make_compacted(admin, "state.internal", 3)
        assert shown(admin, "state.internal", "cleanup.policy") == "compact"
        end = old.control("CreateTopics", lambda _: Fail(ErrorCode.POLICY_VIOLATION))
        with pytest.raises(KafkaError):
            make_compacted(admin, "refused.internal", 3)
        end()
