"""Changes that are held back, with Spark's own tester of processors; no JVM runs."""

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StructType

from moldau.streams.compile.limiting import HeldChanges, Holding
from unit.streams.state_rows import row

HEADERS = [{"key": "h", "value": b"1"}]


def change(offset: int, key: str, value: str | None, millis: int) -> Row:
    return row(offset, value, millis, key=key, headers=HEADERS)


def holding(records_max: int | None = None) -> TwsTester:
    processor = Holding(10, records_max, StructType([]))
    return TwsTester(processor, timeMode="eventtime", eventTimeExtractor=lambda _: 1 << 60)


def told(rows: list[Row]) -> list[tuple[object, object, int]]:
    return [(each.key, each.value, each.millis) for each in rows]


def test_the_last_change_comes_when_the_time_of_the_first_is_over() -> None:
    held = holding()
    assert held.test("a", [change(1, "a", "one", 100), change(2, "a", "two", 105)]) == []
    assert held.setWatermark(109) == []
    (found,) = held.setWatermark(110)
    assert told([found]) == [("a", "two", 105)]
    assert found.headers == HEADERS
    assert held.peekValueState("held", "a") is None
    assert told(held.test("a", [change(3, "a", None, 90)])) == [("a", None, 90)]


def test_a_record_that_moves_time_on_comes_through_with_it() -> None:
    held = holding()
    rows = [change(1, "a", "one", 100), change(2, "a", "two", 110), change(3, "a", "three", 112)]
    assert told(held.test("a", rows)) == [("a", "two", 110)]
    assert told(held.setWatermark(200)) == [("a", "three", 112)]


def test_the_oldest_comes_early_when_too_many_are_held() -> None:
    held = holding(records_max=2)
    rows = [
        *(change(1, "a", "one", 100), change(2, "b", "two", 101)),
        *(change(3, "a", "three", 102), change(4, "c", "four", 103)),
    ]
    assert told(held.test(0, rows)) == [("a", "three", 102)]
    assert told(held.setWatermark(113)) == [("b", "two", 101), ("c", "four", 103)]


def test_keys_may_be_structs() -> None:
    changes = HeldChanges(10, None)
    assert changes.take(row(1, "v", 5, key={"n": 1}, headers=None), 5) == []
    assert changes.take(row(2, "w", 6, key={"n": 1}, headers=None), 6) == []
    assert [(each.value, each.due_ms) for each in changes.due(15)] == [("w", 15)]
    assert changes.held == []
