"""Segments are replaced so that a crash at any rename leaves the old ones or the new ones."""

import pytest

from moldau.log import names
from moldau.log.log import Log
from moldau.log.replacement import replace_segments
from moldau.log.segment import Segment
from moldau.testing.disk import MemoryDisk, PowerLost, keep_all, lose_all
from unit.log.logs import Workbench, batch, fill, offsets_in

SIZE = len(batch(bytes(50), bytes(50)))
OLD = [0, 2, 4, 6, 8]
NEW = [2, 6, 8]


def prepared() -> tuple[Workbench, Log, list[Segment], Segment]:
    """Three segments; the first two were cleaned of every other batch."""
    bench = Workbench(segment_bytes=2 * SIZE, cleanup_policy=("compact",))
    log = bench.create()
    fill(log, 5)
    bench.flush(log)
    replaced = list(log.segments)[:2]
    cleaned = Segment.create(bench.folder, 0, now_ms=0, suffix=names.CLEANED)
    for segment in replaced:
        for _, header, data in list(segment.batches()):
            if header.base_offset in NEW:
                cleaned.append(bytes(data), [header], index_interval_bytes=0)
    cleaned.seal()
    cleaned.file().sync()
    bench.disk.sync_directory(bench.folder.path)
    return bench, log, replaced, cleaned


def test_the_new_segment_is_read_in_place_of_the_old_ones() -> None:
    bench, log, replaced, cleaned = prepared()
    replace_segments(log, replaced, [cleaned], now_ms=0)
    assert offsets_in(log) == NEW
    assert list(log.segments.base_offsets) == [0, 8]
    assert log.read(3, max_bytes=SIZE).size == SIZE
    for path in log.expire(now_ms=10**9):
        bench.disk.remove(path)
    assert not [name for name in bench.names() if name.count(".") > 1]
    assert offsets_in(bench.open()) == NEW


@pytest.mark.parametrize("choice", [keep_all, lose_all])
def test_a_crash_at_any_step_leaves_a_complete_log(choice: object) -> None:
    number = 0
    outcomes = []
    while True:
        number += 1
        bench, log, replaced, cleaned = prepared()
        bench.disk.lose_power_at_call(number)
        try:
            replace_segments(log, replaced, [cleaned], now_ms=0)
        except PowerLost:
            bench.disk = restarted(bench.disk, choice)
        else:
            break
        again = bench.open(recovery_point=10)
        outcomes.append(offsets_in(again))
        assert outcomes[-1] in (OLD, NEW)
        assert again.log_end_offset == 10
    assert OLD in outcomes
    assert NEW in outcomes or choice is lose_all


def restarted(disk: MemoryDisk, choice: object) -> MemoryDisk:
    return disk.restart(choice)  # type: ignore[arg-type]


def test_the_active_segment_cannot_be_replaced() -> None:
    _, log, _, cleaned = prepared()
    with pytest.raises(AssertionError):
        replace_segments(log, [log.segments.active], [cleaned], now_ms=0)
