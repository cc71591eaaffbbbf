"""The topic of offset syncs is in one cluster or the other."""

import pytest

from moldau.client.admin.configs import ConfigResource
from moldau.client.blocking.admin import Admin
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.connectors.mirror.syncs import SyncTopic
from moldau.connect.errors import ConfigError
from moldau.errors import ErrorCode
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.connect.connectors.mirror.mirrored import place

POLICY = ReplicationPolicy("old", "new")


def test_it_is_in_the_source_unless_said_otherwise() -> None:
    there = SyncTopic.of({}, POLICY)
    assert (there.name, there.is_at_source) == ("mm2-offset-syncs.new.internal", True)
    here = SyncTopic.of({"offset-syncs.topic.location": "target"}, POLICY)
    assert (here.name, here.is_at_source) == ("mm2-offset-syncs.old.internal", False)
    with pytest.raises(ConfigError, match="x is neither source nor target"):
        SyncTopic.of({"offset-syncs.topic.location": "x"}, POLICY)


def test_it_is_made_compacted_and_once(old: EmbeddedBroker) -> None:
    topic = SyncTopic("made.internal", is_at_source=True, is_wanted=True, factor=3)
    with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
        for _ in range(2):
            topic.make(admin, admin)
        resource = ConfigResource.topic(topic.name)
        assert admin.describe_configs([resource])[resource]["cleanup.policy"].value == "compact"
        assert len(admin.describe_topics(topic.name)[topic.name].partitions) == 1
        unwanted = SyncTopic("unmade", is_at_source=True, is_wanted=False, factor=3)
        unwanted.make(admin, admin)
        assert "unmade" not in admin.list_topics()


def test_a_source_that_refuses_it_is_copied_all_the_same(
    old: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = SyncTopic("unwelcome", is_at_source=True, is_wanted=True, factor=3)
    end = old.control("CreateTopics", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    try:
        with Admin(bootstrap_servers=old.bootstrap_servers) as admin:
            topic.make(admin, admin)
    finally:
        end()
    assert "unwelcome cannot be made in the source cluster" in caplog.text


def test_records_go_to_its_only_partition() -> None:
    topic = SyncTopic.of({}, POLICY)
    [record] = topic.records([OffsetSync(place("t"), 9, 8, 5)])
    assert (record.topic, record.partition) == (topic.name, 0)
    assert record.headers == (("moldau.records", b"5"),)
