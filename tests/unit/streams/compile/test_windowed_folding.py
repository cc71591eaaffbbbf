"""Folds by window, called as Spark would; no JVM runs."""

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues
from pyspark.sql.streaming.tws_tester import TwsTester

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.windowed_folding import FoldByWindow
from moldau.streams.functions import Folding
from unit.streams.state_rows import TYPES, joined, row, task

WINDOW = ("k", 10, 20)


class Called:
    """The processor for one window."""

    def __init__(self, mode: Mode) -> None:
        self.processor = FoldByWindow(task(Folding(joined), mode), TYPES)
        tester = TwsTester(
            self.processor, timeMode="eventtime", eventTimeExtractor=lambda each: each.millis
        )
        self.handle = tester.handle
        self.handle.setGroupingKey(WINDOW)

    def give(self, *rows: Row, watermark_ms: int) -> list[Row]:
        times = TimerValues(0, watermark_ms)
        return list(self.processor.handleInputRows(WINDOW, iter(rows), times))

    def close(self) -> list[Row]:
        assert list(self.handle.listTimers()) == [20]
        times, expired = TimerValues(0, 20), ExpiredTimerInfo(20)
        return list(self.processor.handleExpiredTimer(WINDOW, times, expired))


def test_a_window_changes_until_the_watermark_reaches_its_end() -> None:
    called = Called("update")
    made = called.give(row(2, "b", 12), row(1, "a", 19), watermark_ms=0)
    assert made == [Row(key="k", start=10, end=20, value="ab", millis=19)]
    (made_later,) = called.give(row(3, "c", 11), watermark_ms=19)
    assert made_later.value == "abc"
    assert called.close() == []
    assert called.give(row(4, "d", 12), watermark_ms=20) == []


def test_a_suppressed_window_comes_when_it_closes() -> None:
    called = Called("append")
    assert called.give(row(1, "a", 12), watermark_ms=0) == []
    assert called.close() == [Row(key="k", start=10, end=20, value="a", millis=12)]
    assert called.close() == []
