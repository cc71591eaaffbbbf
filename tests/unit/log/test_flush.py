"""The recovery point moves when, and only when, everything before it was synced."""

import pytest

from moldau.errors import KafkaError
from moldau.log import flush, opening
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, Producer
from moldau.records.control import EndMarker, write_end_marker
from moldau.testing.disk import lose_all
from unit.log.logs import Workbench, batch, fill, offsets_in


def test_the_recovery_point_moves_when_the_flush_is_done() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 3)
    prepared = flush.prepare(log)
    assert log.recovery_point == 0
    prepared.run(bench.disk)
    fill(log, 1)
    flush.complete(log, prepared, now_ms=5)
    assert log.recovery_point == 6
    assert log.flushed_at_ms == 5
    bench.disk = bench.disk.restart(lose_all)
    assert bench.open(recovery_point=6).log_end_offset == 6


def test_after_a_roll_the_sealed_segment_is_enough() -> None:
    bench = Workbench(segment_bytes=600)
    log = bench.create()
    fill(log, 4)
    base_offset = log.segments.active.base_offset
    assert base_offset > 0
    prepared = flush.prepare(log, base_offset)
    prepared.run(bench.disk)
    flush.complete(log, prepared, now_ms=0)
    assert log.recovery_point == base_offset
    bench.disk = bench.disk.restart(lose_all)
    # The segment before the recovery point is not scanned: its indexes are trusted.
    reopened = bench.open(recovery_point=base_offset)
    assert reopened.log_end_offset == base_offset
    assert reopened.segments.first.largest.timestamp > 0


def test_a_flush_that_a_cut_has_overtaken_moves_nothing() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 3)
    prepared = flush.prepare(log)
    log.truncate_to(2, now_ms=0)
    fill(log, 3)
    flush.complete(log, prepared, now_ms=0)
    assert log.recovery_point == 0


def test_names_count_as_synced_only_when_the_flush_is_done() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 1)
    abandoned = flush.prepare(log)
    assert abandoned.directories == [bench.folder.path, "/data"]
    prepared = flush.prepare(log)
    assert prepared.directories == abandoned.directories
    log.roll(now_ms=0)
    flush.complete(log, prepared, now_ms=0)
    assert flush.prepare(log).directories == abandoned.directories
    bench.flush(log)
    assert flush.prepare(log).directories == []


def test_a_failed_flush_takes_the_volume_offline() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 1)
    prepared = flush.prepare(log)
    bench.disk.fail_call(1)
    with pytest.raises(OSError, match="Input/output") as failed:
        prepared.run(bench.disk)
    flush.fail(log, failed.value)
    assert log.recovery_point == 0
    with pytest.raises(KafkaError):
        log.append_as_leader(batch(), leader_epoch=0, now_ms=0)
    with pytest.raises(KafkaError):
        flush.prepare(log)


def test_a_flush_is_due_by_messages_or_by_time() -> None:
    by_count = Workbench(flush_messages=4).create()
    fill(by_count, 1)
    assert not flush.is_due(by_count, now_ms=10**9)
    fill(by_count, 1)
    assert flush.is_due(by_count, now_ms=0)
    by_time = Workbench(flush_ms=100).create()
    assert not flush.is_due(by_time, now_ms=500)
    fill(by_time, 1)
    assert not flush.is_due(by_time, now_ms=99)
    assert flush.is_due(by_time, now_ms=100)


def test_a_clean_close_leaves_all_that_the_next_start_needs() -> None:
    bench = Workbench(segment_bytes=600)
    log = bench.create()
    fill(log, 6)
    bench.close(log)
    bench.disk = bench.disk.restart(lose_all)
    again = bench.open(was_closed_cleanly=True)
    assert again.log_end_offset == 12
    assert again.recovery_point == 12
    assert offsets_in(again) == [0, 2, 4, 6, 8, 10]
    calls = len(bench.disk.calls)
    assert flush.prepare_close(again).files == []
    assert len(bench.disk.calls) == calls


def test_the_first_flush_makes_epochs_and_topic_id_durable() -> None:
    bench = Workbench()
    log = opening.create(bench.folder, bench.config, bench.shared, now_ms=0, topic_id=b"t" * 16)
    log.begin_epoch(4)
    log.append_as_leader(batch(), leader_epoch=4, now_ms=0)
    prepared = flush.prepare(log)
    prepared.run(bench.disk)
    flush.complete(log, prepared, now_ms=0)
    bench.disk = bench.disk.restart(lose_all)
    reopened = bench.open(recovery_point=log.recovery_point)
    assert reopened.topic_id == b"t" * 16
    assert list(reopened.epochs) == list(log.epochs)


def test_an_election_is_written_by_a_clean_stop_alone() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 1)
    bench.close(log)
    log = bench.open(was_closed_cleanly=True)
    before = len(bench.disk.calls)
    log.begin_epoch(4)
    assert bench.disk.calls[before:] == []
    flush.prepare_close(log).run(bench.disk)
    bench.disk = bench.disk.restart(lose_all)
    assert list(bench.open(was_closed_cleanly=True).epochs) == [(0, 0), (4, 2)]


def test_closing_a_log_that_nobody_used_costs_no_disk_call() -> None:
    bench = Workbench()
    log = bench.create()
    fill(log, 1)
    log.begin_epoch(4)
    bench.close(log)
    log = bench.open(was_closed_cleanly=True)
    log.begin_epoch(4)
    before = len(bench.disk.calls)
    flush.prepare_close(log).run(bench.disk)
    assert bench.disk.calls[before:] == []


def test_aborted_transactions_survive_a_roll_right_after_the_flush() -> None:
    bench = Workbench()
    log = bench.create()
    producer = Producer(1, 0, 0)
    data = batch(b"aborted", producer=producer, attributes=TRANSACTIONAL)
    log.append_as_leader(data, leader_epoch=0, now_ms=0)
    marker = write_end_marker(EndMarker(False, 0), producer_id=1, producer_epoch=0, timestamp_ms=0)
    log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    prepared = flush.prepare(log)
    prepared.run(bench.disk)
    flush.complete(log, prepared, now_ms=0)
    log.roll(now_ms=0)
    bench.disk.sync_directory(log.folder.path)  # the files' names stay, so nothing is missed

    bench.disk = bench.disk.restart(lose_all)
    opened = bench.open(recovery_point=2)

    found = opened.aborted_in(opened.read(0, max_bytes=1000))
    assert [aborted.producer_id for aborted in found] == [1]


def test_the_first_flush_after_a_roll_syncs_the_indexes_of_what_was_flushed_before() -> None:
    bench = Workbench(index_interval_bytes=1)
    log = bench.create()
    fill(log, 3)
    for roll in (True, False):
        prepared = flush.prepare(log)
        prepared.run(bench.disk)
        flush.complete(log, prepared, now_ms=0)
        if roll:
            log.roll(now_ms=0)
            fill(log, 1)

    after = bench.disk.restart(lose_all)

    index = after.status(bench.path(f"{0:020}.index"))
    assert index is not None
    assert index.size > 0
