"""What members say."""

from dataclasses import replace

from unit.coordinator.group.consumer.samples import beating, joining


def test_a_heartbeat_is_full_if_it_leaves_nothing_open() -> None:
    assert joining("a").is_full
    assert joining("a", pattern="t.*").is_full
    assert not replace(joining("a"), owned=None).is_full
    assert not replace(joining("a"), rebalance_timeout_ms=None).is_full
    assert not replace(joining("a"), topic_names=None).is_full
    assert not beating("a", 1).is_full
