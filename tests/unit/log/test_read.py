"""Reads end at batches, limits and transactions as they must."""

import pytest

from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.records.batch import TRANSACTIONAL, Producer, iterate_headers
from moldau.records.control import EndMarker, write_end_marker
from unit.log.logs import Workbench, batch, fill

SIZE = len(batch(bytes(50), bytes(50)))


@pytest.fixture
def log() -> Log:
    """Ten batches of two records, three to a segment."""
    made = Workbench(segment_bytes=3 * SIZE + 10, index_interval_bytes=0).create()
    fill(made, 10)
    return made


def bases(log: Log, offset: int, max_bytes: int, **options: object) -> list[int]:
    fetched = log.read(offset, max_bytes=max_bytes, **options)  # type: ignore[arg-type]
    raw = b"" if fetched.range is None else fetched.range.read()
    return [header.base_offset for _, header in iterate_headers(raw)]


def test_reading_begins_with_the_batch_that_holds_the_offset(log: Log) -> None:
    assert bases(log, 3, 10**6) == [2, 4]
    assert bases(log, 6, 10**6) == [6, 8, 10]


def test_a_read_ends_with_its_segment_and_may_cut_the_last_batch(log: Log) -> None:
    fetched = log.read(0, max_bytes=2 * SIZE + 5)
    assert fetched.size == 2 * SIZE + 5
    assert bases(log, 0, 2 * SIZE + 5) == [0, 2]


def test_the_first_batch_is_read_whole_if_asked_for(log: Log) -> None:
    assert log.read(0, max_bytes=10).is_first_batch_cut
    assert bases(log, 0, 10) == []
    assert bases(log, 0, 10, at_least_one=True) == [0]
    assert bases(log, 0, 0, at_least_one=True) == [0]
    assert log.read(0, max_bytes=0).range is None


@pytest.mark.parametrize(
    ("end_offset", "expected"), [(0, []), (2, [0]), (3, [0]), (4, [0, 2]), (6, [0, 2, 4])]
)
def test_nothing_at_or_past_the_end_offset_is_read(
    log: Log, end_offset: int, expected: list[int]
) -> None:
    assert bases(log, 0, 10**6, end_offset=end_offset, at_least_one=True) == expected


def test_a_limit_before_the_offset_leaves_nothing(log: Log) -> None:
    assert log.read(4, max_bytes=10**6, end_offset=2).range is None
    assert log.read(10, max_bytes=10**6, end_offset=2).range is None


def test_the_end_of_the_log_is_empty_and_no_error(log: Log) -> None:
    assert log.read(20, max_bytes=100).range is None


def test_a_reader_keeps_its_file_when_the_segment_is_deleted(log: Log) -> None:
    fetched = log.read(0, max_bytes=10**6)
    assert fetched.range is not None
    before = fetched.range.read()
    log.drop_first_segments(1, now_ms=0)
    for path in log.expire(now_ms=10**9):
        log.folder.disk.remove(path)
    assert fetched.range.read() == before


def test_aborted_transactions_are_told_with_what_was_read() -> None:
    log = Workbench(index_interval_bytes=0).create()
    for producer_id in (7, 8):
        data = batch(producer=Producer(producer_id, 0, 0), attributes=TRANSACTIONAL)
        log.append_as_leader(data, leader_epoch=0, now_ms=0)
    for producer_id, is_commit in ((7, True), (8, False)):
        marker = write_end_marker(
            EndMarker(is_commit, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=1
        )
        log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    log.roll(now_ms=0)
    fill(log, 1)
    found = log.aborted_in(log.read(0, max_bytes=10**6))
    assert [(entry.producer_id, entry.first_offset, entry.last_offset) for entry in found] == [
        (8, 1, 3)
    ]
    assert log.aborted_in(log.read(4, max_bytes=10**6)) == []
    assert log.aborted_in(log.read(6, max_bytes=10**6)) == []


def test_the_marker_may_lie_in_a_later_segment() -> None:
    log = Workbench().create()
    data = batch(producer=Producer(8, 0, 0), attributes=TRANSACTIONAL)
    log.append_as_leader(data, leader_epoch=0, now_ms=0)
    log.roll(now_ms=0)
    marker = write_end_marker(EndMarker(False, 0), producer_id=8, producer_epoch=0, timestamp_ms=1)
    log.append_as_leader(marker, leader_epoch=0, now_ms=0, origin=Origin.COORDINATOR)
    assert len(log.aborted_in(log.read(0, max_bytes=10**6))) == 1
