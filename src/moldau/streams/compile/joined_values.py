"""What a joiner makes of two sides, as a column."""

import inspect

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import pandas_udf

from moldau.streams.compile.records import KEY
from moldau.streams.functions import Vectorized
from moldau.streams.nodes.joins import Joiner

LEFT = "left"
RIGHT = "right"


def joined_value(joiner: Joiner) -> Column:
    """A column over the columns `key`, `left` and `right`."""
    match joiner:
        case str():
            return f.expr(joiner)
        case Vectorized(function, returns, count):
            _check(count, joiner)
            # Spark takes hints of types for what a function is given; the user's may say less.
            plain = lambda left, right: function(left, right)  # noqa: E731, PLW0108
            make = pandas_udf(plain, returns)  # type: ignore[call-overload]
            made: Column = make(f.col(LEFT), f.col(RIGHT))
            return made
        case _:
            count = len(inspect.signature(joiner).parameters)
            _check(count, joiner)
            sides = (f.col(LEFT), f.col(RIGHT))
            return joiner(*sides) if count == 2 else joiner(f.col(KEY), *sides)


def _check(count: int, joiner: object) -> None:
    if count not in (2, 3) or (count == 3 and isinstance(joiner, Vectorized)):
        raise ValueError(f"{joiner!r} must take left and right (or, of columns, key first)")
