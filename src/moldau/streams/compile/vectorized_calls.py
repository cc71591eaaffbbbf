"""Calls of vectorized functions: whole columns at once, and row by row where that fails."""

from collections.abc import Callable
from typing import Any, NamedTuple

from moldau.streams.compile.failures import FailedStep
from moldau.streams.functions import Vectorized

# A column of structs is a frame for pandas, any other a series.
Series = Any
MADE, FAILED = "made", "failed"


class Arguments(NamedTuple):
    """The columns of a batch: what functions are given, and where each record came from."""

    key: Series
    value: Series
    topic: Series
    partition: Series
    offset: Series

    def row(self, index: int) -> "Arguments":
        """One row, as columns of one."""
        return Arguments(*(column.iloc[index : index + 1] for column in self))


def checked(expression: Vectorized, step: FailedStep) -> Callable[..., Series]:
    """The function, which says on which record it failed."""

    def call(*columns: Series) -> Series:
        arguments = Arguments(*columns)
        try:
            return _called(expression, arguments)
        except Exception as error:
            _rows(expression, arguments, step)
            # Each row alone was well: it is the function as a whole that failed.
            error.add_note(f"in the step {step.name}")
            raise

    return _without_hints(call)


def outcomes(expression: Vectorized, step: FailedStep) -> Callable[..., Series]:
    """The function, with a column that says which rows it failed on: those have been handled."""

    def call(*columns: Series) -> Series:
        arguments = Arguments(*columns)
        try:
            made = _listed(_called(expression, arguments))
            return _outcome(arguments, made, [False] * len(made))
        except Exception:  # noqa: BLE001 - whatever the user's function raises
            rows = _rows(expression, arguments, step)
            made = [None if row is None else row[0] for row in rows]
            return _outcome(arguments, made, [row is None for row in rows])

    return _without_hints(call)


def _without_hints(function: Callable[..., Series]) -> Callable[..., Series]:
    """Spark takes hints of types for what a function is given; ours are for people."""
    function.__annotations__ = {}
    return function


def _called(expression: Vectorized, arguments: Arguments) -> Series:
    given = (arguments.value,) if expression.parameter_count == 1 else arguments[:2]
    return expression.function(*given)


def _rows(
    expression: Vectorized, arguments: Arguments, step: FailedStep
) -> list[tuple[object] | None]:
    """What the function gives for each row alone; None where it fails, which is handled."""
    found: list[tuple[object] | None] = []
    for index in range(len(arguments.offset)):
        row = arguments.row(index)
        try:
            (made,) = _listed(_called(expression, row))
            found.append((made,))
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises
            (key,), (value,) = _listed(row.key), _listed(row.value)
            place = {name: getattr(row, name).iloc[0] for name in ("topic", "partition", "offset")}
            step.handle(place, key, value, error)
            found.append(None)
    return found


def _outcome(arguments: Arguments, made: list[object], failed: list[bool]) -> Series:
    """A frame of pandas, as Spark takes a column of structs."""
    frame = arguments.offset.reset_index(drop=True).to_frame("offset")
    frame[MADE] = made
    frame[FAILED] = failed
    return frame[[MADE, FAILED]]


def _listed(column: Series) -> list[object]:
    if hasattr(column, "columns"):
        records: list[object] = column.to_dict("records")
        return records
    return list(column)
