"""Folds of sessions, with Spark's own tester of processors; no JVM runs."""

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StructType

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.session_folding import FoldSessions
from moldau.streams.functions import Folding
from moldau.streams.windows import SessionWindows
from unit.streams.state_rows import joined, row

WINDOWS = SessionWindows.of_inactivity_gap_with_no_grace(10)
JOINED = Folding(joined, merge=lambda _key, one, other: f"{one}|{other}")


def a_tester(mode: Mode) -> TwsTester:
    processor = FoldSessions(JOINED, StructType([]), WINDOWS, mode)
    # Spark sees no event time in what processors get, so it drops nothing itself.
    return TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)


def told(rows: object) -> list[tuple[object, ...]]:
    assert isinstance(rows, list)
    return [(each.start, each.end, each.value) for each in rows if isinstance(each, Row)]


def test_sessions_that_grow_together_are_replaced() -> None:
    tested = a_tester("update")
    assert told(tested.test("k", [row(1, "a", 0), row(2, "b", 20)])) == [(0, 0, "a"), (20, 20, "b")]
    assert told(tested.test("k", [row(3, "c", 10)])) == [
        (0, 0, None),
        (20, 20, None),
        (0, 20, "a|bc"),
    ]


def test_a_session_is_open_for_a_gap_after_its_last_record() -> None:
    tested = a_tester("update")
    tested.test("k", [row(1, "a", 0)])
    assert tested.setWatermark(10) == []
    assert told(tested.test("k", [row(2, "b", 5)])) == [(0, 0, None), (0, 5, "ab")]
    tested.setWatermark(16)
    assert tested.peekValueState("sessions", "k") is None
    assert told(tested.test("k", [row(3, "late", 5), row(4, "c", 6)])) == [(6, 6, "c")]


def test_a_suppressed_session_comes_when_it_closes() -> None:
    tested = a_tester("append")
    assert tested.test("k", [row(1, "a", 0), row(2, "b", 7), row(3, "c", 30)]) == []
    assert told(tested.setWatermark(18)) == [(0, 7, "ab")]
    assert told(tested.setWatermark(41)) == [(30, 30, "c")]
