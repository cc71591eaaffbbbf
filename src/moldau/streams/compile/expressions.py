"""Expressions of the user as Spark's columns."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import pandas_udf

from moldau.streams.compile.failures import FailedStep
from moldau.streams.compile.records import KEY, PLACE, VALUE, place_within
from moldau.streams.compile.vectorized_calls import FAILED, MADE, checked, outcomes
from moldau.streams.functions import Expression, Vectorized, parameter_count


def with_made(
    frame: DataFrame, expression: Expression, step: FailedStep, *, is_pair: bool = False
) -> DataFrame:
    """The records with what an expression gives, as the column `made`.

    Those that a Python function fails on stop the query or are left out, as the step says.
    """
    if not isinstance(expression, Vectorized):
        return frame.withColumn(MADE, pair(expression) if is_pair else column(expression))
    place = f.col(PLACE)
    columns = (f.col(KEY), f.col(VALUE), place["topic"], place["partition"], place["offset"])
    if step.policy.on_error == "fail":
        plain = checked(expression, step)
        call = pandas_udf(plain, expression.returns)  # type: ignore[call-overload]
        return frame.withColumn(MADE, call(*columns))
    returns = f"{MADE} {expression.returns}, {FAILED} boolean"
    call = pandas_udf(outcomes(expression, step), returns)  # type: ignore[call-overload]
    rows = frame.withColumn(MADE, call(*columns)).filter(~f.col(f"{MADE}.{FAILED}"))
    return rows.withColumn(MADE, f.col(f"{MADE}.{MADE}"))


def column(expression: Expression) -> Column:
    """One column of what an expression says about key and value."""
    made = _evaluated(expression)
    if isinstance(made, Column):
        return made
    raise TypeError(f"{expression!r} must return one column, returned {made!r}")


def pair(expression: Expression) -> Column:
    """A struct of `key` and `value`; a function may return a pair of columns."""
    made = _evaluated(expression)
    if isinstance(made, Column):
        return made
    if isinstance(made, tuple) and len(made) == 2:
        return f.struct(made[0].alias(KEY), made[1].alias(VALUE))
    raise TypeError(f"{expression!r} must return a key and a value, returned {made!r}")


def exploded(frame: DataFrame, array: Column) -> DataFrame:
    """A row for each element of an array, as the column `made`; places keep their order."""
    rows = frame.select("*", f.posexplode(array).alias("index", MADE))
    return rows.withColumn(PLACE, place_within(f.col("index"))).drop("index")


def _evaluated(expression: Expression) -> object:
    match expression:
        case str():
            return f.expr(expression)
        case Vectorized(function, returns, count):
            return pandas_udf(function, returns)(*_arguments(count))  # type: ignore[call-overload]
        case _:
            return expression(*_arguments(parameter_count(expression)))


def _arguments(count: int) -> tuple[Column, ...]:
    return (f.col(VALUE),) if count == 1 else (f.col(KEY), f.col(VALUE))
