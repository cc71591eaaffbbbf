"""The offset index has Kafka's bytes and finds where to begin a scan."""

import pytest

from moldau.log.index import CorruptIndex, OffsetIndex

BYTES = bytes.fromhex("00000005000000640000000900000190")


def index() -> OffsetIndex:
    return OffsetIndex(100, BYTES)


def test_entries_are_a_relative_offset_and_a_position() -> None:
    built = OffsetIndex(100)
    built.append(105, 100)
    built.append(109, 400)
    assert built.take_unwritten() == BYTES
    assert [index().entry(number) for number in range(2)] == [(105, 100), (109, 400)]


@pytest.mark.parametrize(
    ("offset", "position"), [(100, 0), (104, 0), (105, 100), (108, 100), (109, 400), (999, 400)]
)
def test_a_scan_begins_at_the_last_entry_that_is_not_behind_the_offset(
    offset: int, position: int
) -> None:
    assert index().position_of(offset) == position


@pytest.mark.parametrize(("position", "offset"), [(0, 105), (100, 105), (101, 109), (401, None)])
def test_the_first_entry_from_a_position_on_is_found(position: int, offset: int | None) -> None:
    assert index().offset_from(position) == offset


@pytest.mark.parametrize(("offset", "count"), [(105, 0), (106, 1), (109, 1), (110, 2)])
def test_truncation_drops_the_entries_of_what_is_cut(offset: int, count: int) -> None:
    truncated = index()
    truncated.truncate_to(offset)
    assert len(truncated) == count
    assert truncated.last_offset == (100, 105, 109)[count]
    assert truncated.last_position == (0, 100, 400)[count]
    assert truncated.written_size == 8 * count


def test_the_zeros_of_a_preallocated_file_are_no_entries() -> None:
    preallocated = OffsetIndex(100, BYTES + bytes(800))
    assert len(preallocated) == 2
    assert preallocated.written_size == len(BYTES)


def test_only_new_entries_are_to_be_written() -> None:
    grown = index()
    unwritten = [grown.has_unwritten]
    grown.append(120, 900)
    unwritten.append(grown.has_unwritten)
    assert grown.take_unwritten() == bytes.fromhex("0000001400000384")
    assert [*unwritten, grown.has_unwritten] == [False, True, False]


def test_an_index_is_full_when_no_entry_fits_its_size() -> None:
    assert not index().is_full(24)
    assert index().is_full(23)


@pytest.mark.parametrize("data", [BYTES[:-1], bytes.fromhex("ffffffff00000001")])
def test_bytes_that_cannot_be_an_index_are_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        OffsetIndex(100, data)


def test_entries_must_rise() -> None:
    with pytest.raises(AssertionError):
        index().append(109, 500)
    with pytest.raises(AssertionError):
        index().append(110, 400)
