"""The time index has Kafka's bytes and finds where to begin a scan."""

import pytest

from moldau.log.index import CorruptIndex
from moldau.log.time_index import TimeIndex, TimestampOffset

BYTES = bytes.fromhex("00000000000003e80000000500000000000007d000000009")


def index() -> TimeIndex:
    return TimeIndex(100, BYTES)


def test_entries_are_a_timestamp_and_a_relative_offset() -> None:
    built = TimeIndex(100)
    assert built.last == TimestampOffset(-1, 100)
    built.append(1000, 105)
    built.append(2000, 109)
    assert built.take_unwritten() == BYTES
    assert [index().entry(number) for number in range(2)] == [(1000, 105), (2000, 109)]


def test_a_timestamp_that_is_not_larger_adds_nothing() -> None:
    built = index()
    built.append(2000, 120)
    built.append(-1, 130)
    assert len(built) == 2
    assert not built.has_unwritten
    assert built.last == TimestampOffset(2000, 109)


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(0, 100), (999, 100), (1000, 105), (1999, 105), (5000, 109)]
)
def test_a_scan_begins_at_the_last_entry_that_is_not_later(timestamp: int, offset: int) -> None:
    assert index().offset_before(timestamp) == offset


@pytest.mark.parametrize(("offset", "count"), [(105, 0), (106, 1), (110, 2)])
def test_truncation_drops_the_entries_of_what_is_cut(offset: int, count: int) -> None:
    truncated = index()
    truncated.truncate_to(offset)
    assert len(truncated) == count
    assert truncated.last.timestamp == (-1, 1000, 2000)[count]
    assert truncated.written_size == 12 * count


def test_the_zeros_of_a_preallocated_file_are_no_entries() -> None:
    assert len(TimeIndex(100, BYTES + bytes(1200))) == 2


def test_room_is_kept_for_the_entry_that_ends_a_segment() -> None:
    assert not index().is_full(48)
    assert index().is_full(47)


@pytest.mark.parametrize(
    "data", [BYTES[:-1], BYTES[12:] + BYTES[:12], bytes.fromhex("00000000000003e8ffffffff")]
)
def test_bytes_that_cannot_be_an_index_are_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        TimeIndex(100, data)
