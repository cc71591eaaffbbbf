"""A partition's replica: roles, epochs, the in-sync set and the high watermark."""

from dataclasses import replace

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.replication.partition import ALL_IN_SYNC
from unit.replication.partitions import LAG_MS, batch, fetch, leader_of_three, partition, state


def test_alone_everything_is_committed_at_once() -> None:
    alone = partition()
    assert alone.lead(state(), now_ms=0)
    appended = alone.append(batch(3), acks=ALL_IN_SYNC, now_ms=0)
    assert (appended.first_offset, appended.last_offset) == (0, 2)
    assert alone.log.high_watermark == 3
    assert alone.is_committed(3)


def test_a_new_leader_notes_its_epoch_before_anything_is_appended() -> None:
    alone = partition()
    alone.lead(state(epoch=4), now_ms=0)
    latest = alone.log.epochs.latest
    assert latest is not None
    assert (latest.epoch, latest.start_offset) == (4, 0)
    assert not alone.lead(state(epoch=4), now_ms=0)


def test_who_does_not_lead_does_not_append() -> None:
    follower = partition()
    assert follower.follow(state(leader=2, replicas=(1, 2)))
    with pytest.raises(KafkaError) as caught:
        follower.append(batch(), acks=1, now_ms=0)
    assert caught.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_following_the_same_leader_in_the_same_epoch_is_no_news() -> None:
    follower = partition()
    follower.follow(state(leader=2))
    assert not follower.follow(state(leader=2))
    assert follower.follow(state(leader=2, epoch=1))


@pytest.mark.parametrize(
    ("known", "code"),
    [(4, ErrorCode.FENCED_LEADER_EPOCH), (6, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_a_client_with_another_epoch_is_told_so(known: int, code: ErrorCode) -> None:
    alone = partition()
    alone.lead(state(epoch=5), now_ms=0)
    alone.require_leader(5)
    alone.require_leader(-1)
    with pytest.raises(KafkaError) as caught:
        alone.require_leader(known)
    assert caught.value.code == code


def test_the_high_watermark_waits_for_every_in_sync_replica() -> None:
    led = leader_of_three()
    led.append(batch(5), acks=ALL_IN_SYNC, now_ms=0)
    assert led.log.high_watermark == 0
    assert not fetch(led, 2, 5)
    assert not led.is_committed(5)
    assert fetch(led, 3, 4)
    assert led.log.high_watermark == 4
    assert fetch(led, 3, 5)
    assert led.is_committed(5)


def test_a_fetch_of_a_broker_that_is_no_replica_is_refused() -> None:
    with pytest.raises(KafkaError) as caught:
        fetch(leader_of_three(), 9, 0)
    assert caught.value.code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_acks_all_needs_enough_replicas_before_the_append() -> None:
    led = partition(min_insync_replicas=2)
    led.lead(state(isr=(1,), replicas=(1, 2, 3)), now_ms=0)
    with pytest.raises(KafkaError) as caught:
        led.append(batch(), acks=ALL_IN_SYNC, now_ms=0)
    assert caught.value.code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert led.log.log_end_offset == 0


def test_with_too_few_replicas_nothing_more_is_committed() -> None:
    led = partition(min_insync_replicas=2)
    led.lead(state(isr=(1,), replicas=(1, 2, 3)), now_ms=0)
    led.append(batch(), acks=1, now_ms=0)
    assert not led.advance_high_watermark()
    assert led.log.high_watermark == 0


def test_min_insync_replicas_is_never_more_than_there_are_replicas() -> None:
    alone = partition(min_insync_replicas=3)
    alone.lead(state(), now_ms=0)
    alone.append(batch(), acks=ALL_IN_SYNC, now_ms=0)
    assert alone.is_committed(1)


def test_what_was_committed_on_too_few_is_said_after_the_append() -> None:
    led = leader_of_three(min_insync_replicas=2)
    led.append(batch(), acks=ALL_IN_SYNC, now_ms=0)
    fetch(led, 2, 1)
    fetch(led, 3, 1)
    led.state = led.state._replace(isr=(1,))
    with pytest.raises(KafkaError) as caught:
        led.is_committed(1)
    assert caught.value.code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_a_replica_that_stops_fetching_leaves_the_in_sync_set() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2, now_ms=LAG_MS)
    assert led.propose_isr(now_ms=LAG_MS) is None
    change = led.propose_isr(now_ms=LAG_MS + 1)
    assert change is not None
    assert change.isr == (1, 2)
    assert led.finish_isr_change(change, 7)
    assert led.state.isr == (1, 2)
    assert led.state.partition_epoch == 7
    assert led.log.high_watermark == 2


def test_an_idle_replica_that_has_everything_stays_in_sync() -> None:
    led = leader_of_three()
    fetch(led, 2, 0)
    fetch(led, 3, 0)
    assert led.propose_isr(now_ms=100 * LAG_MS) is None


def test_while_a_change_is_under_way_the_leaving_replica_still_counts() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    now_ms = LAG_MS + 1
    fetch(led, 2, 2, now_ms=now_ms)
    change = led.propose_isr(now_ms=now_ms)
    assert change is not None
    assert change.isr == (1, 2)
    assert led.propose_isr(now_ms=now_ms) is None
    led.advance_high_watermark()
    assert led.log.high_watermark == 0
    assert not led.finish_isr_change(change, None)
    assert led.state.isr == (1, 2, 3)
    assert led.log.high_watermark == 0


def test_a_replica_joins_once_it_has_all_that_is_committed() -> None:
    led = partition()
    led.lead(state(isr=(1,), replicas=(1, 2)), now_ms=0)
    now_ms = 5 * LAG_MS
    led.append(batch(4), acks=1, now_ms=now_ms)
    assert led.log.high_watermark == 4
    fetch(led, 2, 3, now_ms=now_ms)
    assert not led.may_join(2)
    assert led.propose_isr(now_ms=now_ms) is None
    fetch(led, 2, 4, now_ms=now_ms)
    assert led.may_join(2)
    change = led.propose_isr(now_ms=now_ms)
    assert change is not None
    assert change.isr == (1, 2)
    assert not led.may_join(2), "it is joining"
    led.append(batch(1), acks=1, now_ms=now_ms)
    assert led.log.high_watermark == 4, "a newcomer counts before its joining is written"


def test_a_replica_may_not_join_before_it_has_the_leaders_epoch() -> None:
    led = partition()
    led.lead(state(isr=(1,), replicas=(1, 2)), now_ms=0)
    led.append(batch(4), acks=1, now_ms=0)
    led.log.high_watermark = 2
    led.lead(state(epoch=1, isr=(1,), replicas=(1, 2)), now_ms=0)
    led.log.high_watermark = 2
    fetch(led, 2, 3, now_ms=5 * LAG_MS)
    assert led.propose_isr(now_ms=5 * LAG_MS) is None


def test_deleted_records_count_from_the_slowest_live_replica() -> None:
    led = leader_of_three()
    led.append(batch(5), acks=1, now_ms=0)
    led.note_fetch(2, 5, log_start_offset=2, now_ms=0)
    led.note_fetch(3, 5, log_start_offset=1, now_ms=0)
    led.log.raise_log_start(4)
    assert led.lowest_log_start({2}) == 2
    assert led.lowest_log_start({2, 3}) == 1
    assert led.lowest_log_start(()) == 4


def test_a_change_that_the_controller_has_overtaken_changes_nothing() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    change = led.propose_isr(now_ms=LAG_MS + 1)
    assert change is not None
    newer = state(epoch=1, isr=(1, 2), replicas=(1, 2, 3))
    led.lead(newer, now_ms=LAG_MS + 1)
    assert not led.finish_isr_change(change, 9)
    assert led.state == newer


def test_what_must_be_synced_first_is_committed_after_that() -> None:
    alone = partition()
    alone.log.config = replace(alone.log.config, flush_messages=1)
    alone.lead(state(), now_ms=0)
    alone.append(batch(3), acks=ALL_IN_SYNC, now_ms=0)
    assert not alone.is_committed(3)
    alone.log.recovery_point = 3
    assert alone.advance_high_watermark()
    assert alone.is_committed(3)


def test_who_joined_with_little_stays_until_the_next_look_at_who_is_behind() -> None:
    led = leader_of_three()
    led.append(batch(), acks=1, now_ms=0)
    late_ms = LAG_MS + 1
    assert led.propose_isr(now_ms=late_ms, may_shrink=False) is None
    change = led.propose_isr(now_ms=late_ms)
    assert change is not None
    assert change.isr == (1,)


def test_who_has_not_fetched_from_this_leader_holds_nothing_up_by_being_idle() -> None:
    led = partition()
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=5_000)
    led.append(batch(2), acks=ALL_IN_SYNC, now_ms=5_000)
    # Of its session under the leader before, which ended with it.
    led.followers[3].note_idle(4_999)
    fetch(led, 2, 2, now_ms=5_001)
    assert led.log.high_watermark == 2
    led.followers[2].note_idle(6_000)
    assert led.followers[2].caught_up_ms == 6_000
