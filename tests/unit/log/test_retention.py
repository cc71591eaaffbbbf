"""Old segments go: a prefix, below the high watermark, and no more than the limits say."""

from moldau.log import retention
from moldau.log.log import Log
from unit.log.logs import Workbench, batch, fill

SIZE = len(batch(bytes(50), bytes(50)))


def log_of(count: int, **settings: object) -> Log:
    """One batch of two records to a segment, timestamps 1000, 1010, ..."""
    log = Workbench(segment_bytes=SIZE + 1, **settings).create()
    fill(log, count)
    log.raise_high_watermark(log.log_end_offset)
    return log


def test_segments_go_when_their_newest_record_is_too_old() -> None:
    log = log_of(5, retention_ms=100)
    assert retention.delete_old_segments(log, now_ms=1110) == 1
    assert retention.delete_old_segments(log, now_ms=1110) == 0
    assert retention.delete_old_segments(log, now_ms=1131) == 3 - 1 + 1
    assert log.log_start_offset == log.segments.first.base_offset == 8


def test_when_all_is_old_an_empty_segment_is_left() -> None:
    log = log_of(3, retention_ms=100)
    assert retention.delete_old_segments(log, now_ms=10_000) == 3
    assert (log.log_start_offset, log.log_end_offset, log.size) == (6, 6, 0)
    assert retention.delete_old_segments(log, now_ms=10**9) == 0
    fill(log, 1)
    assert log.log_end_offset == 8


def test_an_old_segment_behind_a_young_one_stays() -> None:
    log = Workbench(segment_bytes=SIZE + 1, retention_ms=100).create()
    fill(log, 1, timestamp=9000)
    fill(log, 2, timestamp=1000)
    log.raise_high_watermark(6)
    assert retention.delete_old_segments(log, now_ms=9050) == 0


def test_nothing_above_the_high_watermark_goes() -> None:
    log = Workbench(segment_bytes=SIZE + 1, retention_ms=100).create()
    fill(log, 4)
    log.raise_high_watermark(5)
    assert retention.delete_old_segments(log, now_ms=10**9) == 2
    assert log.log_start_offset == 4


def test_the_log_stays_at_least_as_large_as_its_limit() -> None:
    log = log_of(5, retention_bytes=2 * SIZE + 1, retention_ms=-1)
    assert retention.delete_old_segments(log, now_ms=10**9) == 2
    assert log.size == 3 * SIZE


def test_segments_below_the_log_start_go_whatever_the_policy() -> None:
    log = log_of(4, cleanup_policy=("compact",), retention_ms=1, retention_bytes=1)
    assert retention.delete_old_segments(log, now_ms=10**9) == 0
    log.raise_log_start(5)
    assert retention.delete_old_segments(log, now_ms=10**9) == 2
    assert (log.log_start_offset, log.segments.first.base_offset) == (5, 4)


def test_records_without_timestamps_are_as_old_as_their_file() -> None:
    log = Workbench(retention_ms=100).create()
    log.append_as_leader(batch(timestamp=-1), leader_epoch=0, now_ms=0)
    log.raise_high_watermark(1)
    assert retention.delete_old_segments(log, now_ms=100) == 0
    assert retention.delete_old_segments(log, now_ms=101) == 1
