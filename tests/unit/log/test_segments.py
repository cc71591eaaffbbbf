"""Segments are found by offset, and change at both ends."""

import pytest

from moldau.log.segment import Segment
from moldau.log.segments import Segments
from unit.log.logs import Workbench


def segments(*base_offsets: int) -> Segments:
    folder = Workbench().folder
    made = [Segment(folder, offset, size=offset, created_ms=0) for offset in base_offsets]
    return Segments(made, end_offset=100)


@pytest.mark.parametrize(("offset", "found"), [(0, 5), (5, 5), (9, 5), (10, 10), (99, 30)])
def test_the_segment_of_an_offset_and_all_after_it(offset: int, found: int) -> None:
    assert segments(5, 10, 30).since(offset)[0].base_offset == found


def test_a_segment_ends_where_the_next_begins_and_the_last_where_the_log_ends() -> None:
    log = segments(5, 10, 30)
    assert [log.end_of(segment) for segment in log] == [10, 30, 100]
    assert log.size == 45


def test_segments_come_and_go_at_the_ends() -> None:
    log = segments(5, 10, 30)
    assert log.remove_first().base_offset == 5
    assert log.remove_last().base_offset == 30
    assert (len(log), log.first.base_offset, log.active.base_offset) == (1, 10, 10)
    with pytest.raises(AssertionError):
        log.remove_last()


def test_a_run_of_segments_is_replaced() -> None:
    log = segments(5, 10, 30)
    first, second, _ = log
    log.replace([first, second], [first])
    assert list(log.base_offsets) == [5, 30]


def test_a_new_segment_lies_behind_all_others() -> None:
    log = segments(5)
    with pytest.raises(AssertionError):
        log.add(log.first)
