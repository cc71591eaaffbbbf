"""A log is opened as it was left, without a scan if it was left cleanly."""

import pytest

from moldau.log import opening
from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, Producer
from moldau.records.control import EndMarker, write_end_marker
from moldau.testing.disk import lose_all
from unit.log.logs import Workbench, batch, fill, offsets_in

SIZE = len(batch(bytes(50), bytes(50)))
TOPIC_ID = b"0123456789abcdef"


def closed(count: int = 5, **settings: object) -> Workbench:
    bench = Workbench(segment_bytes=2 * SIZE, **settings)
    log = bench.create()
    fill(log, count)
    log.append_as_leader(batch(producer=Producer(7, 0, 0)), leader_epoch=3, now_ms=0)
    bench.close(log)
    return bench


def reopened(bench: Workbench) -> Log:
    return bench.open(was_closed_cleanly=True, recovery_point=11, high_watermark=9)


def test_a_log_is_what_it_was() -> None:
    log = reopened(closed())
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (0, 9, 11)
    assert log.recovery_point == 11
    assert log.epochs.latest == (3, 10)
    assert log.producers.get(7) is not None
    assert list(log.segments.base_offsets) == [0, 4, 8]


def test_no_log_is_read_except_for_the_end_of_the_last_segment() -> None:
    bench = closed()
    for name in ("00000000000000000000.log", "00000000000000000004.log"):
        bench.overwrite(name, b"\xff" * len(bench.read(name)))
    assert reopened(bench).log_end_offset == 11


def test_a_new_log_is_empty_and_knows_its_topic() -> None:
    bench = Workbench()
    log = opening.create(bench.folder, bench.config, bench.shared, now_ms=0, topic_id=TOPIC_ID)
    assert (log.log_start_offset, log.log_end_offset, log.topic_id) == (0, 0, TOPIC_ID)
    assert bench.open().topic_id == TOPIC_ID
    assert reopened(bench).log_end_offset == 0


def test_a_directory_without_segments_is_an_empty_log_at_its_start() -> None:
    bench = Workbench()
    bench.disk.make_directory(bench.folder.path)
    log = bench.open(log_start_offset=42)
    assert (log.log_start_offset, log.log_end_offset) == (42, 42)


def test_a_log_start_inside_a_segment_is_remembered() -> None:
    log = closed().open(was_closed_cleanly=True, log_start_offset=3)
    assert log.log_start_offset == 3
    assert log.epochs.earliest == (0, 3)
    assert log.high_watermark == 3


def test_a_log_that_ends_before_its_start_starts_over() -> None:
    log = closed().open(was_closed_cleanly=True, log_start_offset=500)
    assert (log.log_start_offset, log.log_end_offset, log.size) == (500, 500, 0)
    fill(log, 1)
    assert offsets_in(log) == [500]


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "partition.metadata"])
def test_a_malformed_file_does_not_keep_a_log_from_opening(name: str, clean: bool) -> None:
    bench = closed()
    bench.overwrite(name, b"garbage")
    log = bench.open(was_closed_cleanly=clean)
    assert log.log_end_offset == 11
    assert list(log.epochs) == [(0, 0), (3, 10)]
    assert log.topic_id is None


def test_empty_epochs_of_an_empty_log_are_none(caplog: pytest.LogCaptureFixture) -> None:
    bench = Workbench()
    bench.create()
    bench.overwrite("leader-epoch-checkpoint", b"")
    assert list(bench.open(was_closed_cleanly=True).epochs) == []
    assert not caplog.records


def test_empty_epochs_of_a_log_with_records_are_damage() -> None:
    bench = closed()
    bench.overwrite("leader-epoch-checkpoint", b"")
    assert list(bench.open(was_closed_cleanly=True).epochs) == [(0, 0), (3, 10)]


def test_lost_snapshots_are_made_up_for_from_the_batches() -> None:
    bench = closed()
    for name in bench.names():
        if name.endswith(".snapshot"):
            bench.disk.remove(bench.path(name))
    log = reopened(bench)
    assert log.producers.get(7) is not None
    bench.close(log)
    assert "00000000000000000011.snapshot" in bench.names()


def test_snapshots_of_no_segment_or_of_a_lost_future_are_removed() -> None:
    bench = closed()
    for offset in (5, 99):
        bench.overwrite(f"{offset:020d}.snapshot", b"stray")
    reopened(bench)
    snapshots = {name for name in bench.names() if name.endswith(".snapshot")}
    assert snapshots == {f"{offset:020d}.snapshot" for offset in (4, 8, 11)}


@pytest.mark.parametrize("damage", [b"", b"\x07" * 33, b"\x07" * 34])
def test_a_damaged_transaction_index_is_rebuilt(damage: bytes) -> None:
    bench = Workbench()
    log = bench.create()
    data = batch(producer=Producer(8, 0, 0), attributes=TRANSACTIONAL)
    log.append_as_leader(data, leader_epoch=0, now_ms=0)
    marker = write_end_marker(EndMarker(False, 0), producer_id=8, producer_epoch=0, timestamp_ms=1)
    log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    bench.close(log)
    if damage:
        bench.overwrite("00000000000000000000.txnindex", damage)
    again = bench.open(was_closed_cleanly=True)
    assert [entry.producer_id for entry in again.aborted_in(again.read(0, max_bytes=999))] == [8]


@pytest.mark.parametrize("clean", [True, False])
def test_lost_indexes_are_rebuilt_with_the_aborted_transactions(clean: bool) -> None:
    bench = Workbench(index_interval_bytes=0)
    log = bench.create()
    for attributes in (TRANSACTIONAL, TRANSACTIONAL):
        producer = Producer(8, 0, log.log_end_offset)
        data = batch(producer=producer, attributes=attributes)
        log.append_as_leader(data, leader_epoch=0, now_ms=0)
    marker = write_end_marker(
        EndMarker(False, 0), producer_id=8, producer_epoch=0, timestamp_ms=1000
    )
    log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    log.roll(now_ms=0)
    fill(log, 1)
    bench.close(log)
    lost = [name for name in bench.names() if name.endswith("index")]
    whole = {name: bench.read(name) for name in lost}
    for name in lost:
        bench.disk.remove(bench.path(name))
    again = bench.open(was_closed_cleanly=clean, recovery_point=log.log_end_offset)
    fetched = again.read(0, max_bytes=10**6)
    assert [entry.producer_id for entry in again.aborted_in(fetched)] == [8]
    bench.close(again)
    assert {name: bench.read(name) for name in lost} == whole


def test_a_rebuilt_index_survives_a_power_loss() -> None:
    bench = closed()
    name = "00000000000000000004.index"
    whole = bench.read(name)
    bench.disk.remove(bench.path(name))
    reopened(bench)
    bench.disk = bench.disk.restart(lose_all)
    assert bench.read(name) == whole
