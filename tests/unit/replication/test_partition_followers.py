"""What a leader knows of its followers, and what it may append and acknowledge by that."""

from dataclasses import replace

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import BatchHeader
from moldau.replication.partition import ALL_IN_SYNC, NEVER_MS, Follower, Partition, PartitionState
from unit.replication.partitions import (
    LAG_MS,
    batch,
    fetch,
    leader_of_three,
    partition,
    state,
)


def append_batch(led: Partition, *, acks: int) -> None:
    data = batch()
    led.append_batch(data, BatchHeader.read(data), acks=acks, now_ms=0)


def test_nothing_is_known_at_first() -> None:
    assert partition().state == PartitionState(-1, -1, -1, (), 0, ())
    never = Follower().caught_up_ms
    assert Follower() == Follower(-1, -1, never, never, -1, -1)


def test_a_fetch_from_the_end_catches_up_at_that_time() -> None:
    follower = Follower()
    follower.note_fetch(5, 1, leader_end=5, now_ms=100)
    assert follower == Follower(5, 1, 100, 100, 5)


def test_a_fetch_from_the_end_of_the_last_fetch_catches_up_at_the_time_of_that() -> None:
    follower = Follower()
    follower.note_fetch(0, 0, leader_end=5, now_ms=100)
    assert follower.caught_up_ms == NEVER_MS
    follower.note_fetch(5, 0, leader_end=9, now_ms=200)
    assert follower.caught_up_ms == 100
    follower.note_fetch(8, 0, leader_end=12, now_ms=300)
    assert follower.caught_up_ms == 100


def test_who_has_caught_up_has_done_so_even_if_the_clock_goes_back() -> None:
    follower = Follower()
    follower.note_fetch(5, 0, leader_end=5, now_ms=100)
    follower.note_fetch(5, 0, leader_end=5, now_ms=50)
    assert (follower.caught_up_ms, follower.fetched_ms) == (100, 50)
    follower.note_fetch(5, 0, leader_end=6, now_ms=60)
    assert follower.caught_up_ms == 100


def test_who_is_idle_at_the_end_is_caught_up() -> None:
    follower = Follower()
    follower.note_fetch(0, 0, leader_end=0, now_ms=100)
    follower.note_idle(200)
    assert follower.caught_up_ms == 200
    follower.note_idle(150)
    assert follower.caught_up_ms == 200


def test_who_is_idle_before_the_end_is_not() -> None:
    follower = Follower()
    follower.note_fetch(4, 0, leader_end=5, now_ms=100)
    follower.note_idle(200)
    assert follower.caught_up_ms == NEVER_MS
    unheard = Follower()
    unheard.note_idle(200)
    assert unheard.caught_up_ms == NEVER_MS


def test_what_is_sent_counts_as_the_end_at_that_time() -> None:
    follower = Follower()
    follower.note_fetch(5, 0, leader_end=5, now_ms=100)
    follower.note_read(7, 200)
    follower.note_fetch(7, 0, leader_end=9, now_ms=300)
    assert follower.caught_up_ms == 200


def test_a_part_of_what_was_sent_does_not_catch_up() -> None:
    follower = Follower()
    follower.note_fetch(5, 0, leader_end=5, now_ms=100)
    follower.note_read(7, 200)
    follower.note_fetch(6, 0, leader_end=9, now_ms=300)
    assert follower.caught_up_ms == 100


def test_what_is_sent_from_the_end_says_nothing() -> None:
    follower = Follower()
    follower.note_fetch(5, 0, leader_end=5, now_ms=100)
    follower.note_read(5, 200)
    assert (follower.leader_end_at_fetch, follower.fetched_ms) == (5, 100)


@pytest.mark.parametrize(
    ("end", "now_ms", "is_caught_up"),
    [(5, 10**9, True), (6, 100 + LAG_MS, True), (6, 101 + LAG_MS, False)],
)
def test_a_follower_may_lag_for_a_while(end: int, now_ms: int, *, is_caught_up: bool) -> None:
    follower = Follower(log_end_offset=5, caught_up_ms=100)
    assert follower.is_caught_up(end, now_ms=now_ms, lag_max_ms=LAG_MS) == is_caught_up


def test_a_batch_with_its_header_needs_the_leader_and_enough_replicas_too() -> None:
    led = partition(min_insync_replicas=2)
    led.lead(state(isr=(1,), replicas=(1, 2)), now_ms=0)
    with pytest.raises(KafkaError) as caught:
        append_batch(led, acks=-1)
    assert caught.value.code == ErrorCode.NOT_ENOUGH_REPLICAS
    append_batch(led, acks=1)
    led.follow(state(leader=2, epoch=1, replicas=(1, 2)))
    with pytest.raises(KafkaError) as caught:
        append_batch(led, acks=1)
    assert caught.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert led.log.log_end_offset == 1


def test_a_batch_with_its_header_is_committed_as_others_are() -> None:
    alone = partition()
    alone.lead(state(epoch=3), now_ms=0)
    append_batch(alone, acks=ALL_IN_SYNC)
    assert alone.is_committed(1)
    latest = alone.log.epochs.latest
    assert latest is not None
    assert latest.epoch == 3


def test_rules_of_produced_records_follow_the_settings_of_the_topic() -> None:
    alone = partition()
    before = alone.produce_rules
    assert before is alone.produce_rules
    assert before.max_message_bytes == alone.log.config.max_message_bytes
    alone.log.config = replace(alone.log.config, max_message_bytes=77)
    assert alone.produce_rules.max_message_bytes == 77


def test_who_gives_up_a_replica_neither_leads_nor_follows() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    led.leave()
    assert not led.is_leader
    assert (led.followers, led.epoch_start_offset) == ({}, None)
    assert led.propose_isr(now_ms=LAG_MS + 1) is None
    with pytest.raises(KafkaError) as caught:
        led.is_committed(0)
    assert caught.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_who_follows_forgets_what_it_knew_as_leader() -> None:
    led = leader_of_three()
    change = led.propose_isr(now_ms=LAG_MS + 1)
    assert change is not None
    led.follow(state(leader=2, epoch=1, replicas=(1, 2, 3)))
    assert (led.followers, led.epoch_start_offset) == ({}, None)
    assert not led.is_changing(change)


def test_a_follower_that_deletes_records_may_be_waited_for() -> None:
    led = leader_of_three()
    led.append(batch(5), acks=1, now_ms=0)
    assert not led.note_fetch(2, 0, log_start_offset=0, now_ms=0)
    assert led.note_fetch(2, 0, log_start_offset=1, now_ms=0)
    assert not led.note_fetch(2, 0, log_start_offset=1, now_ms=0)


def test_a_follower_of_which_nothing_is_known_holds_the_high_watermark() -> None:
    led = leader_of_three()
    led.append(batch(5), acks=1, now_ms=0)
    assert not led.advance_high_watermark()
    assert not fetch(led, 2, 5)
    assert led.log.high_watermark == 0
    assert not fetch(led, 3, 0)
    assert fetch(led, 3, 1)


def test_who_is_out_of_the_set_and_late_holds_nothing_up() -> None:
    led = partition()
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    led.append(batch(5), acks=1, now_ms=0)
    fetch(led, 3, 1, now_ms=0)
    assert fetch(led, 2, 5, now_ms=1)
    assert led.log.high_watermark == 5


def test_who_was_taken_out_of_the_set_must_fetch_again_to_be_let_in() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2)
    fetch(led, 3, 2)
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    assert led.followers[2].log_end_offset == 2
    assert led.followers[3] == Follower()
    assert led.propose_isr(now_ms=0) is None


def test_a_leader_of_the_same_epoch_keeps_where_it_began() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    assert not led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    assert led.epoch_start_offset == 0
    led.lead(state(epoch=1, isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    assert led.epoch_start_offset == 2


def test_in_sync_followers_of_a_new_leader_have_time_from_then_on() -> None:
    led = partition()
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=500)
    assert led.followers == {2: Follower(caught_up_ms=500), 3: Follower()}


def test_a_leader_that_comes_back_asks_its_followers_anew() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2)
    led.follow(state(leader=2, epoch=1, replicas=(1, 2, 3)))
    assert led.lead(state(epoch=2, isr=(1, 2, 3), replicas=(1, 2, 3)), now_ms=7)
    assert led.followers[2] == Follower(caught_up_ms=7)


def test_who_leads_with_fewer_in_sync_commits_what_they_have() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2)
    assert led.log.high_watermark == 0
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    assert led.log.high_watermark == 2


def test_who_is_about_to_join_counts_as_long_as_it_is_not_late() -> None:
    led = partition()
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    led.append(batch(5), acks=1, now_ms=0)
    fetch(led, 3, 5, now_ms=0)
    led.append(batch(1), acks=1, now_ms=0)
    fetch(led, 2, 6, now_ms=LAG_MS)
    assert led.log.high_watermark == 5
    fetch(led, 2, 6, now_ms=LAG_MS + 1)
    assert led.log.high_watermark == 6


def test_who_is_in_the_set_does_not_join_it() -> None:
    led = leader_of_three()
    fetch(led, 2, 0)
    assert not led.may_join(2)


def test_who_is_behind_does_not_join_a_set_that_may_not_shrink() -> None:
    led = partition()
    led.lead(state(isr=(1, 2), replicas=(1, 2, 3)), now_ms=0)
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2)
    assert led.propose_isr(now_ms=0, may_shrink=False) is None


def test_another_change_may_follow_once_the_first_is_written() -> None:
    led = leader_of_three()
    led.append(batch(2), acks=1, now_ms=0)
    fetch(led, 2, 2, now_ms=LAG_MS)
    first = led.propose_isr(now_ms=LAG_MS + 1)
    assert first is not None
    led.finish_isr_change(first, 1)
    assert not led.is_changing(first)
    fetch(led, 3, 2, now_ms=LAG_MS + 1)
    second = led.propose_isr(now_ms=LAG_MS + 1)
    assert second is not None
    assert second.isr == (1, 2, 3)
