"""Names of topics, and which are never copied."""

import pytest

from moldau.connect.connectors.mirror.policy import ReplicationPolicy
from moldau.connect.errors import ConfigError

ALIASES = {"source.cluster.alias": "old", "target.cluster.alias": "new"}


def policy(**more: str) -> ReplicationPolicy:
    named = {name.replace("_", "."): text for name, text in more.items()}
    return ReplicationPolicy.of({**ALIASES, **named})


def test_topics_have_the_alias_of_their_cluster_in_front() -> None:
    assert policy().remote_topic("orders") == "old.orders"
    assert policy(replication_policy_separator="_").remote_topic("orders") == "old_orders"


def test_names_can_be_kept_except_those_of_heartbeats() -> None:
    kept = policy(replication_policy_class="IdentityReplicationPolicy")
    assert [kept.remote_topic(each) for each in ("a.b", "heartbeats")] == ["a.b", "old.heartbeats"]
    assert not kept.has_come_from_target("new.a")
    assert kept.has_come_from_target("new.heartbeats")


def test_what_has_come_from_the_target_is_known_by_its_name() -> None:
    found = policy()
    assert [found.has_come_from_target(each) for each in ("new.a", "third.new.a")] == [True, True]
    assert [found.has_come_from_target(each) for each in ("a", "new", "a.new")] == [False] * 3


@pytest.mark.parametrize(
    ("topic", "is_internal"),
    [
        ("__consumer_offsets", True),
        (".hidden", True),
        ("connect.internal", True),
        ("connect-internal", True),
        ("mm2-offset-syncs.new.internal", True),
        ("a.checkpoints.internal", True),
        ("orders", False),
        ("internal", False),
        ("heartbeats", False),
    ],
)
def test_topics_of_brokers_workers_and_mirrors_are_internal(topic: str, is_internal: bool) -> None:
    assert policy().is_internal(topic) == is_internal


def test_internal_topics_have_the_separator_unless_that_is_switched_off() -> None:
    name = "replication.policy.internal.topic.separator.enabled"
    both = ReplicationPolicy.of({**ALIASES, "replication.policy.separator": "_"})
    assert both.offset_syncs_topic(is_at_source=True) == "mm2-offset-syncs_new_internal"
    assert both.is_internal(both.offset_syncs_topic(is_at_source=False))
    assert both.is_internal(both.checkpoints_topic())
    dots = ReplicationPolicy.of({**ALIASES, "replication.policy.separator": "_", name: "false"})
    assert dots.offset_syncs_topic(is_at_source=False) == "mm2-offset-syncs.old.internal"
    assert dots.checkpoints_topic() == "old.checkpoints.internal"


def test_other_policies_and_missing_aliases_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"my\.Policy is neither DefaultReplicationPolicy"):
        policy(replication_policy_class="my.Policy")
    with pytest.raises(ConfigError, match="separator: it is empty"):
        policy(replication_policy_separator="")
    with pytest.raises(ConfigError, match=r"source\.cluster\.alias"):
        ReplicationPolicy.of({})
