"""Folds of sessions, with Spark's own tester of processors; no JVM runs."""

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StructType

from moldau.streams.compile.compilation import Mode
from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.session_folding import FoldSessions
from moldau.streams.errors import ErrorPolicy
from moldau.streams.functions import Folding
from moldau.streams.windows import SessionWindows
from unit.streams.state_rows import joined, row, task

WINDOWS = SessionWindows.of_inactivity_gap_with_no_grace(10)
JOINED = Folding(joined, merge=lambda _key, one, other: f"{one}|{other}")


def a_tester(mode: Mode) -> TwsTester:
    processor = FoldSessions(task(JOINED, mode), StructType([]), WINDOWS)
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


def test_a_session_closes_a_gap_after_its_last_record() -> None:
    # Kafka's store finds a session only while it ended less than gap and grace ago.
    tested = a_tester("update")
    tested.test("k", [row(1, "a", 0)])
    assert tested.setWatermark(9) == []
    assert told(tested.test("k", [row(2, "b", 5)])) == [(0, 0, None), (0, 5, "ab")]
    tested.setWatermark(15)
    assert tested.peekValueState("sessions", "k") is None
    tested.setWatermark(16)
    assert told(tested.test("k", [row(3, "late", 5), row(4, "c", 6)])) == [(6, 6, "c")]


def test_a_suppressed_session_comes_when_it_closes() -> None:
    tested = a_tester("append")
    assert tested.test("k", [row(1, "a", 0), row(2, "b", 7), row(3, "c", 30)]) == []
    assert told(tested.setWatermark(18)) == [(0, 7, "ab")]
    assert told(tested.setWatermark(41)) == [(30, 30, "c")]


def test_an_old_record_joins_a_session_that_is_open_and_late_ones_are_counted() -> None:
    late = PlainCounter()
    processor = FoldSessions(task(JOINED, late=late), StructType([]), WINDOWS)
    tested = TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)
    tested.test("a", [row(1, "x", 100), row(2, "y", 110)])
    tested.setWatermark(115)
    assert told(tested.test("a", [row(3, "z", 95)])) == [(100, 110, None), (95, 110, "xyz")]
    assert tested.test("b", [row(4, "late", 95)]) == []
    assert late.value == 1


def test_a_record_that_the_function_fails_on_is_left_out() -> None:
    def failing(_key: object, value: object, so_far: object) -> object:
        return f"{so_far}{int(str(value))}"

    folding = Folding(failing, initial=str, merge=lambda _key, one, other: f"{one}{other}")
    made = task(folding, policy=ErrorPolicy("continue"))
    tested = TwsTester(
        FoldSessions(made, StructType([]), WINDOWS),
        timeMode="eventtime",
        eventTimeExtractor=lambda _: 1 << 60,
    )
    rows = [row(1, "1", 0), row(2, "x", 3), row(3, "2", 5)]
    assert told(tested.test("k", rows)) == [(0, 5, "12")]
    assert made.step.failed == PlainCounter(1)
