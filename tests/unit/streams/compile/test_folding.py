"""Folds by key, with Spark's own tester of processors; no JVM runs."""

import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.folding import Aggregate, FoldByKey, folded, plain
from moldau.streams.errors import ErrorPolicy, StepFailed
from moldau.streams.functions import Folding
from unit.streams.state_rows import TYPES, failed_step, joined, row

COUNT = Folding(lambda _key, _value, count: count + 1, initial=int)


def test_values_are_folded_in_the_order_of_offsets() -> None:
    tester = TwsTester(FoldByKey(Folding(joined), TYPES, failed_step()))
    made = tester.test("k", [row(2, "b", 5), row(1, "a", 9)])
    assert made == [Row(key="k", value="ab", millis=9)]
    assert tester.test("k", [row(3, "c", 1)]) == [Row(key="k", value="abc", millis=9)]
    assert tester.test("l", [row(4, "d", 2)]) == [Row(key="l", value="d", millis=2)]
    assert tester.peekValueState("aggregate", "k") == ("abc", 9)


def test_an_initial_value_goes_first() -> None:
    assert folded(COUNT, "k", row(0, "x", 4), None) == Aggregate(1, 4)
    assert folded(COUNT, "k", row(0, "x", 4), Aggregate(7, 5)) == Aggregate(8, 5)


def test_what_is_taken_away_is_subtracted() -> None:
    folding = Folding(joined, subtract=lambda _key, value, so_far: f"{so_far}-{value}")
    taken = row(0, "x", 4, sign=-1)
    assert folded(folding, "k", taken, Aggregate("xy", 3)) == Aggregate("xy-x", 4)
    # Nothing was added yet, so there is nothing to take away from.
    assert folded(folding, "k", taken, None) is None
    assert folded(folding, "k", row(0, "x", 4, sign=1), None) == Aggregate("x", 4)
    assert TwsTester(FoldByKey(folding, TYPES, failed_step())).test("k", [taken]) == []


def test_structs_of_the_state_are_dictionaries_as_those_of_records() -> None:
    assert plain(Row(a=1, b=[Row(c=2)])) == {"a": 1, "b": [{"c": 2}]}


def test_a_record_that_a_function_fails_on_stops_the_step_or_is_left_out() -> None:
    def whole(_key: object, value: object, so_far: object) -> object:
        return f"{so_far}{int(str(value))}"

    rows = [row(1, "1", 0), row(2, "x", 3), row(3, "2", 5)]
    strict = TwsTester(FoldByKey(Folding(whole, initial=str), TYPES, failed_step()))
    with pytest.raises(
        StepFailed, match="step failed on a-0 at offset 2 \\('x'\\): ValueError: inv"
    ):
        strict.test("k", rows)
    lenient = failed_step(ErrorPolicy("continue"))
    tester = TwsTester(FoldByKey(Folding(whole, initial=str), TYPES, lenient))
    assert [each.value for each in tester.test("k", rows)] == ["12"]
    assert lenient.failed == PlainCounter(1)
