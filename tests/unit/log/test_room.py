"""The room of a segment only ever says what a closer look would say too."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.log.room import NO_ROOM, measure
from unit.log.logs import Workbench, batch, fill

SIZES = st.integers(0, 300)
TIMES = st.integers(-1, 2_000)


@given(appends=st.lists(st.tuples(SIZES, TIMES), max_size=40), timed=st.booleans())
def test_segments_roll_as_without_it(appends: list[tuple[int, int]], timed: bool) -> None:
    settings = {
        "segment_bytes": 1_000,
        "segment_ms": 700 if timed else 10**9,
        "segment_index_bytes": 48,
        "index_interval_bytes": 90,
    }
    measured, exact = Workbench(**settings).create(), Workbench(**settings).create()
    for now_ms, (size, timestamp) in enumerate(appends):
        exact.room = NO_ROOM
        for log in (measured, exact):
            data = batch(bytes(size), timestamp=timestamp)
            log.append_as_leader(data, leader_epoch=0, now_ms=now_ms)
    assert list(measured.segments.base_offsets) == list(exact.segments.base_offsets)


def test_a_segment_without_timestamps_has_none() -> None:
    log = Workbench().create()
    log.append_as_leader(batch(timestamp=-1), leader_epoch=0, now_ms=0)
    assert measure(log.segments.active, log.config, 0) == NO_ROOM


def test_truncation_forgets_it() -> None:
    log = Workbench().create()
    fill(log, 3)
    assert log.room != NO_ROOM
    log.truncate_to(0, now_ms=0)
    assert log.room == NO_ROOM
