"""What members say."""

from dataclasses import replace

from moldau.coordinator.group.consumer.messages import Heartbeat, HeartbeatReply
from unit.coordinator.group.consumer.samples import beating, joining


def test_a_heartbeat_is_full_if_it_leaves_nothing_open() -> None:
    assert joining("a").is_full
    assert replace(joining("a", pattern="t.*"), topic_names=None).is_full
    assert not replace(joining("a"), owned=None).is_full
    assert not replace(joining("a"), rebalance_timeout_ms=None).is_full
    assert not replace(joining("a"), topic_names=None).is_full
    assert not beating("a", 1).is_full


def test_who_does_not_say_so_may_be_without_an_id() -> None:
    assert not Heartbeat(member_id="", epoch=0).must_have_id


def test_who_leaves_is_told_no_interval_and_no_assignment() -> None:
    assert HeartbeatReply("a", -1) == ("a", -1, 0, None)
