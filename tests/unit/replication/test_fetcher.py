"""The partitions that are fetched from one leader, each on its own way."""

import errno

import pytest

from moldau.errors import ErrorCode
from moldau.log.leader_epochs import EpochEnd
from moldau.records.batch import stamp, write_batch
from moldau.records.record import Record
from moldau.replication.fetcher import (
    FIRST_BACKOFF_MS,
    Ends,
    FetchPhase,
    Following,
    LeaderAnswer,
    ReplicaFetcher,
)
from moldau.runtime.clock import Moment
from unit.replication.replica_set import T0, Member, ReplicaSet

NOW = Moment(500, 1_700_000_000_000)


def later(ms: int) -> Moment:
    return Moment(NOW.monotonic_ms + ms, NOW.wall_ms + ms)


def follower_with(count: int, *, by_fetch: bool = False) -> tuple[Member, ReplicaFetcher]:
    """Broker 2 with records of epoch 0, following broker 1 in epoch 1."""
    replicas = ReplicaSet(count=2, min_insync_replicas=1)
    for number in range(count):
        replicas.append(1, b"%d" % number, acks=1)
    replicas.settle()
    replicas.elect(1)
    replicas.tell(2)
    member = replicas.members[2]
    fetcher = ReplicaFetcher(backoff_max_ms=1_000, truncates_by_fetch=by_fetch)
    fetcher.follow(member.partition, NOW)
    return member, fetcher


def only(fetcher: ReplicaFetcher, phase: FetchPhase, now: Moment = NOW) -> Following:
    (following,) = fetcher.due(phase, now)
    return following


def answer(offset: int, records: bytes = b"", **rest: int) -> LeaderAnswer:
    return LeaderAnswer(
        offset, records, rest.get("high_watermark", 0), rest.get("log_start_offset", 0)
    )


def batch(offset: int) -> bytes:
    made = write_batch([Record(offset, 1_000, None, b"v", ())], base_offset=offset)
    stamp(made, 0, base_offset=offset, leader_epoch=1)
    return bytes(made)


def test_a_log_with_epochs_is_first_compared_with_the_leaders() -> None:
    member, fetcher = follower_with(3)
    following = only(fetcher, FetchPhase.TRUNCATING)
    assert (following.leader_epoch, following.last_epoch) == (1, 0)
    fetcher.take_epoch_end(following, EpochEnd(0, 2), NOW)
    assert member.log.log_end_offset == 2
    assert only(fetcher, FetchPhase.FETCHING) is following


def test_an_empty_log_is_fetched_at_once() -> None:
    _, fetcher = follower_with(0)
    assert only(fetcher, FetchPhase.FETCHING).last_epoch == -1
    assert len(fetcher) == 1
    assert T0 in fetcher


def test_a_leader_that_tells_with_its_answers_is_not_asked_before() -> None:
    member, fetcher = follower_with(3, by_fetch=True)
    following = only(fetcher, FetchPhase.FETCHING)
    diverging = LeaderAnswer(3, b"", 1, 0, EpochEnd(0, 1))
    assert fetcher.take_records(following, diverging, NOW)
    assert member.log.log_end_offset == 1


def test_batches_come_with_the_leaders_high_watermark_and_log_start() -> None:
    member, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    records = batch(0) + batch(1)
    assert fetcher.take_records(following, answer(0, records, high_watermark=1), NOW)
    assert (member.log.log_end_offset, member.log.high_watermark) == (2, 1)
    assert fetcher.take_records(following, answer(2, high_watermark=2, log_start_offset=1), NOW)
    assert (member.log.high_watermark, member.log.log_start_offset) == (2, 1)
    assert not fetcher.take_records(following, answer(2, high_watermark=2), NOW), "no news"


def test_the_log_start_does_not_pass_the_high_watermark() -> None:
    member, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    fetcher.take_records(following, answer(0, batch(0), log_start_offset=1), NOW)
    assert member.log.log_start_offset == 0


def test_answers_for_a_partition_that_has_left_are_dropped() -> None:
    member, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    fetcher.drop(T0)
    assert not fetcher.take_records(following, answer(0, batch(0)), NOW)
    fetcher.take_error(following, ErrorCode.OFFSET_OUT_OF_RANGE, NOW)
    fetcher.take_epoch_end(following, EpochEnd(0, 0), NOW)
    fetcher.take_ends(following, Ends(7, 9), NOW)
    assert member.log.log_end_offset == 0
    assert len(fetcher) == 0


def test_an_answer_for_another_offset_is_dropped() -> None:
    member, fetcher = follower_with(0)
    assert not fetcher.take_records(only(fetcher, FetchPhase.FETCHING), answer(5, batch(5)), NOW)
    assert member.log.log_end_offset == 0


def test_a_partition_that_fails_waits_longer_each_time_up_to_a_limit() -> None:
    _, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    assert fetcher.next_deadline_ms(NOW) is None
    fetcher.take_error(following, ErrorCode.NOT_LEADER_OR_FOLLOWER, NOW)
    assert fetcher.due(FetchPhase.FETCHING, NOW) == []
    assert fetcher.next_deadline_ms(NOW) == NOW.monotonic_ms + FIRST_BACKOFF_MS
    assert only(fetcher, FetchPhase.FETCHING, later(FIRST_BACKOFF_MS)) is following
    assert fetcher.next_deadline_ms(later(FIRST_BACKOFF_MS)) is None, "it waits no more"
    fetcher.take_error(following, ErrorCode.UNKNOWN_LEADER_EPOCH, NOW)
    assert fetcher.next_deadline_ms(NOW) == NOW.monotonic_ms + 2 * FIRST_BACKOFF_MS
    for _ in range(30):
        fetcher.take_error(following, ErrorCode.UNKNOWN_LEADER_EPOCH, NOW)
    assert fetcher.next_deadline_ms(NOW) == NOW.monotonic_ms + 1_000
    fetcher.take_records(following, answer(0, batch(0)), NOW)
    assert fetcher.next_deadline_ms(NOW) is None


def test_a_fenced_partition_waits_for_the_controller() -> None:
    _, fetcher = follower_with(0)
    fetcher.take_error(only(fetcher, FetchPhase.FETCHING), ErrorCode.FENCED_LEADER_EPOCH, NOW)
    assert T0 not in fetcher


def test_damaged_batches_are_asked_for_again_later() -> None:
    member, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    damaged = batch(0)[:-1] + b"?"
    assert not fetcher.take_records(following, answer(0, damaged), NOW)
    assert member.log.log_end_offset == 0
    assert only(fetcher, FetchPhase.FETCHING, later(1_000)) is following


def test_a_disk_that_fails_ends_the_following() -> None:
    member, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    member.disk.fail_call(1, errno.EIO)
    fetcher.take_records(following, answer(0, batch(0)), NOW)
    assert T0 not in fetcher


@pytest.mark.parametrize(
    ("ends", "log_start", "log_end"),
    [
        (Ends(0, 2), 0, 2),  # the leader has less: cut
        (Ends(7, 9), 7, 7),  # all of ours is gone there: begin anew
    ],
)
def test_out_of_range_the_leaders_ends_show_the_way(
    ends: Ends, log_start: int, log_end: int
) -> None:
    member, fetcher = follower_with(3, by_fetch=True)
    fetcher.take_error(only(fetcher, FetchPhase.FETCHING), ErrorCode.OFFSET_OUT_OF_RANGE, NOW)
    following = only(fetcher, FetchPhase.LOST)
    fetcher.take_ends(following, ends, NOW)
    assert (member.log.log_start_offset, member.log.log_end_offset) == (log_start, log_end)
    assert only(fetcher, FetchPhase.FETCHING) is following


@pytest.mark.parametrize("ends", [Ends(1, 9), Ends(3, 9), Ends(0, 3)])
def test_an_offset_that_is_in_range_after_all_is_asked_for_again_later(ends: Ends) -> None:
    member, fetcher = follower_with(3, by_fetch=True)
    fetcher.take_error(only(fetcher, FetchPhase.FETCHING), ErrorCode.OFFSET_OUT_OF_RANGE, NOW)
    following = only(fetcher, FetchPhase.LOST)
    fetcher.take_ends(following, ends, NOW)
    assert (member.log.log_start_offset, member.log.log_end_offset) == (0, 3)
    assert fetcher.due(FetchPhase.FETCHING, NOW) == []
    assert only(fetcher, FetchPhase.FETCHING, later(FIRST_BACKOFF_MS)) is following


def test_the_lag_is_what_is_committed_and_missing() -> None:
    _, fetcher = follower_with(0)
    assert fetcher.largest_lag == 0
    following = only(fetcher, FetchPhase.FETCHING)
    fetcher.take_records(following, answer(0, batch(0), high_watermark=5), NOW)
    assert fetcher.largest_lag == 4
    for offset, high_watermark in ((1, 2), (2, 0)):
        records = batch(offset)
        fetcher.take_records(following, answer(offset, records, high_watermark=high_watermark), NOW)
        assert fetcher.largest_lag == 0


def test_only_what_is_to_be_fetched_otherwise_is_named_again() -> None:
    _, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    assert fetcher.take_touched(NOW) == {T0: following}
    assert fetcher.take_touched(NOW) == {}
    fetcher.take_records(following, answer(0, high_watermark=0), NOW)
    assert fetcher.take_touched(NOW) == {}, "it goes on from the same offset"
    fetcher.take_records(following, answer(0, batch(0)), NOW)
    assert fetcher.take_touched(NOW) == {T0: following}
    fetcher.take_records(following, answer(1, high_watermark=1, log_start_offset=1), NOW)
    assert fetcher.take_touched(NOW) == {T0: following}, "its log begins elsewhere"
    fetcher.touch(T0)
    assert fetcher.take_touched(NOW) == {T0: following}
    fetcher.drop(T0)
    assert fetcher.take_touched(NOW) == {T0: None}


def test_what_waits_is_left_out_until_its_time_has_come() -> None:
    _, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    fetcher.take_touched(NOW)
    fetcher.take_error(following, ErrorCode.NOT_LEADER_OR_FOLLOWER, NOW)
    assert fetcher.take_touched(NOW) == {T0: None}
    assert fetcher.take_touched(NOW) == {}
    assert fetcher.take_touched(later(FIRST_BACKOFF_MS)) == {T0: following}


def test_what_is_not_yet_compared_is_left_out() -> None:
    _, fetcher = follower_with(3)
    assert fetcher.take_touched(NOW) == {T0: None}
    following = only(fetcher, FetchPhase.TRUNCATING)
    fetcher.take_epoch_end(following, EpochEnd(0, 3), NOW)
    assert fetcher.take_touched(NOW) == {T0: following}
    fetcher.take_error(following, ErrorCode.OFFSET_OUT_OF_RANGE, NOW)
    assert fetcher.take_touched(NOW) == {T0: None}
    assert fetcher.get(T0) is following


def test_the_short_way_is_for_partitions_that_are_all_being_fetched() -> None:
    _, fetcher = follower_with(0)
    following = only(fetcher, FetchPhase.FETCHING)
    assert fetcher.plainly_touched() == [following]
    fetcher.untouch()
    assert fetcher.plainly_touched() == []
    fetcher.take_error(following, ErrorCode.NOT_LEADER_OR_FOLLOWER, NOW)
    assert fetcher.plainly_touched() is None, "it waits"
    fetcher.drop(T0)
    assert fetcher.plainly_touched() is None, "the leader has to hear that it left"
