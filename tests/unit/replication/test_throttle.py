"""Rates, and what they hold up."""

import pytest

from moldau.config.topic import TopicConfig
from moldau.replication.throttle import WINDOW_COUNT, WINDOW_MS, Rate, Throttle
from unit.replication.replica_set import ReplicaSet

SPAN_MS = (WINDOW_COUNT - 1) * WINDOW_MS


def test_a_rate_is_spread_over_all_windows_from_the_beginning() -> None:
    rate = Rate()
    assert rate.per_second(now_ms=0) == 0
    rate.record(10_000, now_ms=0)
    assert rate.per_second(now_ms=0) == 1_000
    rate.record(10_000, now_ms=SPAN_MS)
    assert rate.per_second(now_ms=SPAN_MS) == 2_000


def test_what_is_long_ago_does_not_count() -> None:
    rate = Rate()
    rate.record(10_000, now_ms=0)
    rate.record(5_000, now_ms=3 * WINDOW_MS)
    assert rate.per_second(now_ms=SPAN_MS) == 1_500
    assert rate.per_second(now_ms=WINDOW_COUNT * WINDOW_MS) == 500
    assert rate.per_second(now_ms=10 * SPAN_MS) == 0


def test_windows_are_few_however_often_is_recorded() -> None:
    rate = Rate()
    for now_ms in range(0, 100 * WINDOW_MS, 100):
        rate.record(1, now_ms=now_ms)
    assert len(rate._windows) == WINDOW_COUNT


def throttle_of(*listed: str, limit: int = 1_000) -> Throttle:
    return Throttle(1, lambda _topic: listed, lambda: limit, Rate())


@pytest.mark.parametrize(
    ("listed", "applies"),
    [((), False), (("*",), True), (("0:1",), True), (("0:2",), False), (("1:1",), False)],
)
def test_only_listed_replicas_of_this_broker_count(listed: tuple[str, ...], applies: bool) -> None:
    partition = ReplicaSet().members[1].partition
    throttle = throttle_of(*listed)
    assert throttle.applies_to(partition) == applies
    throttle.record(partition, 100_000, now_ms=0)
    assert throttle.holds_up(partition, now_ms=0) == applies


def test_the_limit_may_be_reached_but_not_exceeded() -> None:
    partition = ReplicaSet().members[1].partition
    throttle = throttle_of("*")
    throttle.record(partition, 10_000, now_ms=0)
    assert not throttle.holds_up(partition, now_ms=0)
    throttle.record(partition, 1, now_ms=0)
    assert throttle.holds_up(partition, now_ms=0)
    assert not throttle.holds_up(partition, now_ms=2 * SPAN_MS)


def test_the_list_is_the_topics_own() -> None:
    partition = ReplicaSet().members[1].partition
    throttle = Throttle(
        1, lambda topic: topic.leader_replication_throttled_replicas, lambda: 0, Rate()
    )
    throttle.record(partition, 1, now_ms=0)
    assert not throttle.holds_up(partition, now_ms=0)
    partition.log.config = TopicConfig(leader_replication_throttled_replicas=("*",))
    throttle.record(partition, 1, now_ms=0)
    assert throttle.holds_up(partition, now_ms=0)
