"""Functions of whole columns are called row by row where they fail, to find the row."""

import pandas as pd
import pytest

from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.vectorized_calls import checked, outcomes
from moldau.streams.errors import ErrorPolicy, StepFailed
from moldau.streams.functions import Vectorized
from unit.streams.state_rows import failed_step

NUMBERS = Vectorized(lambda values: values.astype("int64"), "bigint", 1)
SUMS = Vectorized(
    lambda keys, values: pd.DataFrame({"n": keys + values.a.astype("int64")}), "n bigint", 2
)


def columns(*values: object, keys: object = None) -> list[object]:
    count = len(values)
    value = pd.DataFrame(list(values)) if isinstance(values[0], dict) else pd.Series(values)
    places = [pd.Series(["t"] * count), pd.Series([2] * count), pd.Series(range(10, 10 + count))]
    return [pd.Series([1] * count if keys is None else keys), value, *places]


def test_what_does_not_fail_is_called_once() -> None:
    assert list(checked(NUMBERS, failed_step())(*columns("1", "2"))) == [1, 2]
    made = outcomes(NUMBERS, failed_step(ErrorPolicy("continue")))(*columns("1", "2"))
    assert (list(made.made), list(made.failed)) == ([1, 2], [False, False])


def test_the_row_that_a_function_fails_on_is_named() -> None:
    with pytest.raises(StepFailed, match=r"step failed on t-2 at offset 11 \('x'\): ValueError"):
        checked(NUMBERS, failed_step())(*columns("1", "x", "3"))


def test_a_function_that_fails_on_the_whole_alone_raises_what_it_raised() -> None:
    def refuse(values: pd.Series) -> pd.Series:
        if len(values) > 1:
            raise MemoryError("too many")
        return values

    with pytest.raises(MemoryError, match="too many") as caught:
        checked(Vectorized(refuse, "string", 1), failed_step())(*columns("1", "2"))
    assert caught.value.__notes__ == ["in the step step"]


def test_rows_that_a_function_fails_on_are_marked() -> None:
    step = failed_step(ErrorPolicy("continue"))
    made = outcomes(NUMBERS, step)(*columns("1", "x", "3"))
    assert list(made.failed) == [False, True, False]
    assert [made.made[index] for index in (0, 2)] == [1, 3]
    assert step.failed == PlainCounter(1)


def test_structs_are_frames_and_come_back_as_records() -> None:
    step = failed_step(ErrorPolicy("continue"))
    made = outcomes(SUMS, step)(*columns({"a": "1"}, {"a": "x"}))
    assert list(made.made) == [{"n": 2}, None]
