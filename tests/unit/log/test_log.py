"""A log gives out offsets, refuses what does not fit, and rolls when it must."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, BatchHeader, Producer, stamp
from moldau.records.control import EndMarker, write_end_marker
from unit.log.logs import Workbench, batch, fill, offsets_in

SIZE = len(batch(bytes(50), bytes(50)))


def append(log: Log, data: bytearray, *, epoch: int = 0, now_ms: int = 0) -> int:
    return log.append_as_leader(data, leader_epoch=epoch, now_ms=now_ms).first_offset


def base_offsets(log: Log) -> list[int]:
    return list(log.segments.base_offsets)


def test_a_leader_gives_out_offsets_and_stamps_its_epoch() -> None:
    log = Workbench().create()
    data = batch(b"1", b"2") + batch(b"3")
    appended = log.append_as_leader(data, leader_epoch=4, now_ms=0)
    assert (appended.first_offset, appended.last_offset) == (0, 2)
    second = BatchHeader.read(data, len(batch(b"1", b"2")))
    assert (second.base_offset, second.leader_epoch) == (2, 4)
    assert append(log, batch()) == 3
    assert log.append_as_leader(bytearray(), leader_epoch=4, now_ms=0).first_offset == -1


def test_a_follower_keeps_offsets_and_refuses_those_it_has() -> None:
    log = Workbench().create()
    data = batch(b"1", b"2")
    stamp(data, 0, base_offset=5, leader_epoch=2)
    log.append_as_follower(data, now_ms=0)
    assert log.log_end_offset == 7
    assert log.epochs.latest == (2, 5)
    with pytest.raises(KafkaError):
        log.append_as_follower(data, now_ms=0)


def test_a_batch_sent_again_has_the_offset_and_timestamp_it_had() -> None:
    log = Workbench().create()
    fill(log, 1)
    first = log.append_as_leader(
        batch(b"1", b"2", producer=Producer(7, 0, 0), timestamp=77), leader_epoch=0, now_ms=0
    )
    again = log.append_as_leader(
        batch(b"1", b"2", producer=Producer(7, 0, 0), timestamp=77), leader_epoch=0, now_ms=0
    )
    assert (again.first_offset, again.last_offset) == (first.first_offset, first.last_offset)
    assert again.max_timestamp == first.max_timestamp == 77
    assert (again.is_duplicate, first.is_duplicate) == (True, False)
    assert log.log_end_offset == 4
    with pytest.raises(KafkaError) as refused:
        append(log, batch(producer=Producer(7, 0, 9)))
    assert refused.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == 4


def test_the_last_stable_offset_waits_for_the_end_of_a_transaction_to_be_replicated() -> None:
    log = Workbench().create()
    append(log, batch())
    append(log, batch(producer=Producer(7, 0, 0), attributes=TRANSACTIONAL))
    log.raise_high_watermark(2)
    assert (log.high_watermark, log.last_stable_offset) == (2, 1)
    marker = write_end_marker(EndMarker(True, 0), producer_id=7, producer_epoch=0, timestamp_ms=1)
    log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    assert log.last_stable_offset == 1
    log.raise_high_watermark(3)
    assert log.last_stable_offset == 3


def test_a_segment_rolls_before_it_gets_too_large() -> None:
    log = Workbench(segment_bytes=2 * SIZE).create()
    fill(log, 5)
    assert base_offsets(log) == [0, 4, 8]
    assert [segment.size for segment in log.segments] == [2 * SIZE, 2 * SIZE, SIZE]


def test_more_than_a_segment_is_refused() -> None:
    log = Workbench(segment_bytes=SIZE).create()
    with pytest.raises(KafkaError) as refused:
        append(log, batch(bytes(200)))
    assert refused.value.code == ErrorCode.RECORD_LIST_TOO_LARGE


def test_what_a_follower_fetched_is_spread_over_segments() -> None:
    log = Workbench(segment_bytes=2 * SIZE).create()
    fetched = bytearray()
    for number in range(5):
        data = batch(bytes(50), bytes(50))
        stamp(data, 0, base_offset=2 * number, leader_epoch=0)
        fetched += data
    assert log.append_as_follower(fetched, now_ms=0).has_rolled
    assert base_offsets(log) == [0, 4, 8]


def test_a_segment_rolls_by_age_less_its_jitter() -> None:
    bench = Workbench(segment_ms=1000, segment_jitter_ms=300)
    bench.shared.draw = lambda limit: limit - 1
    log = bench.create()
    append(log, batch(timestamp=5000))
    append(log, batch(timestamp=5701))
    assert base_offsets(log) == [0]
    append(log, batch(timestamp=5702))
    assert base_offsets(log) == [0, 2]


@pytest.mark.parametrize(
    ("policy", "has_rolled"),
    [(("compact",), True), (("compact", "delete"), True), (("delete",), False)],
)
def test_a_compacted_segment_rolls_in_time_to_be_compacted(
    policy: tuple[str, ...], has_rolled: bool
) -> None:
    log = Workbench(cleanup_policy=policy, segment_ms=10_000, max_compaction_lag_ms=1000).create()
    log.append_as_leader(batch(timestamp=1000), leader_epoch=0, now_ms=0)
    log.append_as_leader(batch(timestamp=2000), leader_epoch=0, now_ms=0)
    assert len(log.segments) == 1
    appended = log.append_as_leader(batch(timestamp=2001), leader_epoch=0, now_ms=0)
    assert appended.has_rolled == has_rolled


def test_a_segment_rolls_when_its_index_is_full() -> None:
    log = Workbench(index_interval_bytes=0, segment_index_bytes=36).create()
    fill(log, 5)
    # Two entries of the time index fit, the third place is for the end of the segment.
    assert base_offsets(log) == [0, 6]


def test_a_segment_rolls_when_an_offset_does_not_fit_its_index() -> None:
    log = Workbench().create()
    append(log, batch())
    data = batch()
    stamp(data, 0, base_offset=2**31, leader_epoch=0)
    log.append_as_follower(data, now_ms=0)
    assert base_offsets(log) == [0, 2**31]
    assert log.log_end_offset == 2**31 + 1


def test_rolling_an_empty_segment_does_nothing() -> None:
    log = Workbench().create()
    log.roll(now_ms=0)
    assert base_offsets(log) == [0]


def test_a_roll_leaves_a_snapshot_of_the_producers() -> None:
    bench = Workbench()
    log = bench.create()
    append(log, batch(producer=Producer(7, 0, 0)))
    log.roll(now_ms=0)
    assert "00000000000000000001.snapshot" in bench.names()


def test_reading_outside_the_log_is_refused() -> None:
    log = Workbench().create()
    fill(log, 2)
    log.raise_high_watermark(4)
    log.raise_log_start(2)
    for offset in (1, 5):
        with pytest.raises(KafkaError) as refused:
            log.read(offset, max_bytes=100)
        assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_records_are_not_deleted_above_the_high_watermark() -> None:
    log = Workbench().create()
    fill(log, 2)
    log.raise_high_watermark(2)
    with pytest.raises(KafkaError) as refused:
        log.raise_log_start(3)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.raise_log_start(2)
    assert not log.raise_log_start(1)


def test_the_high_watermark_only_rises_and_not_past_the_end() -> None:
    log = Workbench().create()
    fill(log, 2)
    assert log.raise_high_watermark(99)
    assert log.high_watermark == 4
    assert not log.raise_high_watermark(1)


def test_truncation_takes_producers_and_epochs_back() -> None:
    log = Workbench().create()
    for sequence in range(4):
        append(log, batch(producer=Producer(7, 0, sequence)), epoch=sequence)
    log.raise_high_watermark(4)
    assert log.truncate_to(2, now_ms=0)
    assert (log.log_end_offset, log.high_watermark) == (2, 2)
    assert log.epochs.latest == (1, 1)
    assert append(log, batch(producer=Producer(7, 0, 2)), epoch=5) == 2
    assert log.end_offset_for_epoch(1) == (1, 2)


def test_truncating_to_the_end_forgets_an_epoch_without_batches() -> None:
    log = Workbench().create()
    append(log, batch())
    log.begin_epoch(3)
    assert log.epochs.latest == (3, 1)
    assert not log.truncate_to(1, now_ms=0)
    assert log.epochs.latest == (0, 0)


def test_recovery_points_are_saved_before_a_log_is_cut_below_its_own() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 3)
    bench.flush(log)
    saved: list[tuple[int, int]] = []
    bench.shared.save_recovery_points = lambda: saved.append((log.recovery_point, log.size))
    log.truncate_to(2, now_ms=0)
    assert saved == [(0, 3 * SIZE)]
    log.truncate_to(0, now_ms=0)
    assert len(saved) == 1


def test_a_log_can_start_over_anywhere() -> None:
    bench = Workbench(segment_bytes=SIZE + 1)
    log = bench.create()
    fill(log, 3)
    log.truncate_fully_and_start_at(1000, now_ms=0)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (1000, 1000, 1000)
    assert len(log.epochs) == 0
    fill(log, 1)
    assert offsets_in(log) == [1000]
    assert bench.open(log_start_offset=1000).log_end_offset == 1002


def test_files_of_dropped_segments_wait_for_their_delay() -> None:
    bench = Workbench(segment_bytes=SIZE + 1, file_delete_delay_ms=500)
    log = bench.create()
    fill(log, 3)
    log.drop_first_segments(2, now_ms=100)
    assert log.log_start_offset == 4
    assert log.next_deadline_ms() == 600
    assert log.expire(now_ms=599) == []
    assert len(log.expire(now_ms=600)) == 7
    assert log.next_deadline_ms() is None


def test_a_failed_write_is_no_append() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 1)
    bench.disk.cut_call(1, kept_bytes=30)
    with pytest.raises(KafkaError) as failed:
        fill(log, 1)
    assert failed.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 2
    for refused in (
        lambda: fill(log, 1),
        lambda: log.read(0, max_bytes=1),
        lambda: log.truncate_to(0, now_ms=0),
        lambda: log.begin_epoch(9),
    ):
        with pytest.raises(KafkaError):
            refused()
    assert bench.open().log_end_offset == 2


def test_a_disk_that_fills_up_ends_the_appends_and_keeps_what_was_there() -> None:
    bench = Workbench()
    log = bench.create()
    bench.disk.capacity_bytes = bench.disk.used_bytes() + 10 * SIZE + 300
    with pytest.raises(KafkaError) as full:
        fill(log, 100)
    assert full.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    end_offset = log.log_end_offset
    assert end_offset > 0
    bench.disk.capacity_bytes = 10**9
    again = bench.open()
    assert again.log_end_offset == end_offset


def test_silent_producers_are_forgotten() -> None:
    log = Workbench().create()
    append(log, batch(producer=Producer(7, 0, 0), timestamp=1000))
    log.expire_producers(now_ms=1000 + 86_400_000 - 1)
    assert len(log.producers) == 1
    log.expire_producers(now_ms=1000 + 86_400_000)
    assert len(log.producers) == 0


def test_what_flush_messages_asks_for_is_settled_once_it_is_durable() -> None:
    bench = Workbench(flush_messages=3)
    wanted: list[Log] = []
    bench.shared.sync_soon = wanted.append
    log = bench.create()
    fill(log, 1)
    assert log.settled_end_offset() == 2
    assert wanted == []
    fill(log, 1)
    assert log.settled_end_offset() == 0
    assert wanted == [log]
    log.recovery_point = 4
    assert log.settled_end_offset() == 4
