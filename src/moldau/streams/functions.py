"""What is done with records: column expressions, vectorized functions, folds.

An expression is SQL over the columns `key`, `value`, `timestamp` and `headers`, or a function that
is called once, with Spark's columns, and returns a column: both run inside Spark. `vectorized`
wraps a function that is called with pandas series, batch by batch, in Python workers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column

    Produced = Column | tuple[Column, Column]

# With one parameter it is given the value, with two the key and the value.
ColumnFunction = Callable[..., "Produced"]


@dataclass(frozen=True, slots=True)
class Vectorized:
    """A function of pandas series and the type of what it returns."""

    function: Callable[..., object]
    returns: str
    parameter_count: int

    def __post_init__(self) -> None:
        if self.parameter_count not in (1, 2):
            raise ValueError("a function takes the value, or the key and the value")


Expression = str | ColumnFunction | Vectorized


def vectorized(
    returns: str, *, arguments: int | None = None
) -> Callable[[Callable[..., object]], Vectorized]:
    """Decorate a function of pandas series; `returns` is a type as in SQL, e.g. `bigint`.

    The function takes the value, or the key and the value, and returns a series of equal length.
    """

    def wrap(function: Callable[..., object]) -> Vectorized:
        return Vectorized(function, returns, arguments or parameter_count(function))

    return wrap


def parameter_count(function: Callable[..., object]) -> int:
    """How many arguments a function wants to be given: 1 (the value) or 2 (key and value)."""
    import inspect  # noqa: PLC0415 - slow to import, and rarely needed

    parameters = inspect.signature(function).parameters.values()
    count = len([each for each in parameters if each.default is each.empty])
    if count not in (1, 2):
        raise ValueError(f"{function!r} must take the value, or the key and the value")
    return count


class Summary(NamedTuple):
    """An aggregation that Spark has, of an expression: count, sum, min, max, avg or a column."""

    kind: str
    of: Expression | None = None
    name: str | None = None


# Functions of the user, whose parameters have the types of his values.
PythonFunction = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Folding:
    """An aggregation in Python: `add(key, value, aggregate)` for each record.

    Without an initial value the first value is the aggregate. `subtract` takes back what a table
    replaces, `merge(key, one, other)` joins two sessions.
    """

    add: PythonFunction
    initial: Callable[[], object] | None = None
    subtract: PythonFunction | None = None
    merge: PythonFunction | None = None
    returns: str | None = None
