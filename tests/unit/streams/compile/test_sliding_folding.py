"""Folds of sliding windows, with Spark's own tester of processors; no JVM runs."""

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StructType

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.sliding_folding import FoldSliding
from moldau.streams.functions import Folding
from moldau.streams.windows import SlidingWindows
from unit.streams.state_rows import joined, row, task

WINDOWS = SlidingWindows.of_time_difference_with_no_grace(5)


def a_tester(mode: Mode) -> TwsTester:
    processor = FoldSliding(task(Folding(joined), mode), StructType([]), WINDOWS)
    # Spark sees no event time in what processors get, so it drops nothing itself.
    return TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)


def told(rows: object) -> list[tuple[object, ...]]:
    assert isinstance(rows, list)
    return sorted((each.start, each.end, each.value) for each in rows if isinstance(each, Row))


def test_windows_that_a_record_changes_are_given() -> None:
    tested = a_tester("update")
    assert told(tested.test("k", [row(1, "a", 100)])) == [(95, 100, "a")]
    assert told(tested.test("k", [row(2, "b", 103)])) == [(98, 103, "ab"), (101, 106, "b")]


def test_closed_windows_do_not_change_and_what_is_too_late_is_dropped() -> None:
    tested = a_tester("update")
    tested.test("k", [row(1, "a", 100)])
    tested.setWatermark(101)
    # [94, 99] is closed; [100, 105], which follows it, is not.
    assert told(tested.test("k", [row(2, "b", 99)])) == [(100, 105, "a")]
    assert told(tested.test("k", [row(3, "c", 95)])) == []


def test_suppressed_windows_come_when_they_close_and_records_are_forgotten() -> None:
    tested = a_tester("append")
    assert tested.test("k", [row(1, "a", 100), row(2, "b", 103)]) == []
    assert told(tested.setWatermark(103)) == [(95, 100, "a"), (98, 103, "ab")]
    assert told(tested.setWatermark(106)) == [(101, 106, "b")]
    tested.setWatermark(114)
    assert tested.peekValueState("samples", "k") is None
