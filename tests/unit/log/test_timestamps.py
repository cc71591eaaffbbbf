"""Lookups by timestamp find single records, also in compressed batches."""

import pytest

from moldau.log.log import Log
from moldau.records.batch import LOG_APPEND_TIME, write_batch
from moldau.records.compression import Codec
from moldau.records.opening import Opening
from moldau.records.record import Record
from moldau.records.refusal import TooLargeToOpen
from moldau.records.scratch import Scratch
from unit.log.logs import Workbench, batch, fill


def append(log: Log, *timestamps: int, attributes: int = 0) -> None:
    records = [Record(number, stamp, None, b"v") for number, stamp in enumerate(timestamps)]
    data = write_batch(records, attributes=attributes)
    log.append_as_leader(data, leader_epoch=0, now_ms=0)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_the_first_record_at_or_after_a_timestamp_is_found(codec: Codec) -> None:
    log = Workbench().create()
    append(log, 100, 300, 200, attributes=codec)
    append(log, 150, 400, attributes=codec)
    assert log.offset_for_timestamp(50) == (100, 0)
    assert log.offset_for_timestamp(101) == (300, 1)
    assert log.offset_for_timestamp(301) == (400, 4)
    assert log.offset_for_timestamp(401) is None


def test_nothing_before_the_log_start_is_found() -> None:
    log = Workbench(segment_bytes=400).create()
    fill(log, 10)
    log.raise_high_watermark(20)
    log.raise_log_start(5)
    assert log.offset_for_timestamp(0) == (1020, 5)


def test_with_log_append_time_all_records_have_the_time_of_the_batch() -> None:
    log = Workbench().create()
    append(log, 100, 300, attributes=LOG_APPEND_TIME)
    assert log.offset_for_timestamp(200) == (300, 0)


def test_the_largest_timestamp_is_found_with_its_first_record() -> None:
    log = Workbench(segment_bytes=300).create()
    assert log.offset_of_largest_timestamp() is None
    append(log, 100, 900, 900)
    append(log, 900, 800)
    log.roll(now_ms=0)
    log.append_as_leader(batch(timestamp=700), leader_epoch=0, now_ms=0)
    assert log.offset_of_largest_timestamp() == (900, 1)


def test_records_without_timestamps_are_not_found() -> None:
    log = Workbench().create()
    append(log, -1)
    assert log.offset_for_timestamp(0) is None


@pytest.mark.parametrize("attributes", [0, LOG_APPEND_TIME])
def test_the_search_goes_on_behind_a_batch_whose_record_was_deleted(attributes: int) -> None:
    log = Workbench().create()
    append(log, 900, 100, attributes=attributes)
    append(log, 800, 850)
    log.raise_high_watermark(4)
    log.raise_log_start(1)
    expected = (900, 1) if attributes else (800, 2)
    assert log.offset_for_timestamp(500) == expected


def test_any_number_is_taken_for_a_timestamp() -> None:
    log = Workbench().create()
    append(log, 2**62, 2**62 + 5)
    assert log.offset_for_timestamp(-(2**63)) == (2**62, 0)
    assert log.offset_for_timestamp(2**63 - 1) is None
    append(log, 0, 2**63 - 1)
    assert log.offset_for_timestamp(2**63 - 1) == (2**63 - 1, 3)


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_is_searched_within_the_bounds_of_who_searches(codec: Codec) -> None:
    log = Workbench().create()
    append(log, *range(10_000), attributes=codec)
    batch = log.batch_for_timestamp(9_000)
    assert batch is not None
    with pytest.raises(TooLargeToOpen):
        batch.first(Opening(Scratch(), 10_000))
    assert batch.first(Opening(Scratch(), 1_000_000)) == (9_000, 9_000)
