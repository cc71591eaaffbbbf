"""Headers of batches tell what need not be opened."""

import pytest

from moldau.console.messages.batches import (
    headers_of,
    markers,
    transactional_ranges,
    within_times,
)
from moldau.records.batch import LOG_APPEND_TIME, TRANSACTIONAL, BatchHeader, Producer, write_batch
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record


def batch(offset: int, *times_ms: int, attributes: int = 0) -> bytes:
    records = [Record(at, time_ms, None, b"x") for at, time_ms in enumerate(times_ms)]
    data = write_batch(records, attributes=attributes, producer=Producer(7, 0, 0))
    data[:8] = offset.to_bytes(8, "big")
    return bytes(data)


def marker(offset: int, time_ms: int, *, is_commit: bool) -> bytes:
    data = write_end_marker(
        EndMarker(is_commit, 0), producer_id=7, producer_epoch=0, timestamp_ms=time_ms
    )
    data[:8] = offset.to_bytes(8, "big")
    return bytes(data)


def left_after(data: bytes, from_ms: int | None, to_ms: int | None) -> tuple[list[int], int]:
    found, count = within_times(memoryview(data), from_ms, to_ms)
    return [header.base_offset for _, header in headers_of(found)], count


LOG = batch(0, 10, 20) + batch(2, 30, 5) + batch(4, 40) + marker(5, 10, is_commit=True)


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "expected"),
    [
        (21, None, [2, 4, 5]),
        (31, None, [4, 5]),
        (None, 40, [0, 2, 5]),
        (None, 10, [0, 2, 5]),
        (99, None, [5]),
        (0, 99, [0, 2, 4, 5]),
    ],
)
def test_only_what_cannot_be_of_the_time_is_left_out(
    from_ms: int | None, to_ms: int | None, expected: list[int]
) -> None:
    assert left_after(LOG, from_ms, to_ms) == (expected, 4 - len(expected))


def test_the_time_of_the_broker_is_that_of_all_records() -> None:
    data = batch(0, 30, 30, attributes=LOG_APPEND_TIME)
    assert left_after(data, None, 30) == ([], 1)
    assert left_after(batch(0, 30, 30), None, 30) == ([0], 0)


def test_what_is_cut_off_stays_for_the_reader() -> None:
    data = batch(0, 10) + batch(1, 99)[:-1]
    found, count = within_times(memoryview(data), 50, None)
    assert (bytes(found), count) == (batch(1, 99)[:-1], 1)
    assert list(headers_of(memoryview(b"\0" * 200))) == []


def test_transactions_and_their_markers_are_found() -> None:
    data = memoryview(
        batch(0, 1)
        + batch(1, 1, 1, attributes=TRANSACTIONAL)
        + marker(3, 8, is_commit=False)
        + marker(4, 9, is_commit=True)
    )
    assert transactional_ranges(data) == [range(1, 3)]
    assert markers(data, range(9)) == [(3, 8, False), (4, 9, True)]
    assert markers(data, range(4, 5)) == [(4, 9, True)]
    assert BatchHeader.read(data).base_offset == 0
