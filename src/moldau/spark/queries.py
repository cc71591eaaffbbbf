"""Questions to a streaming query that have an answer also when its JVM is gone."""

from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from moldau.spark.reasons import reason

_GONE = (Py4JError, OSError)
GONE = "Spark's driver, the JVM of this process, has ended"
FAILURES = (*_GONE, PySparkException)
"""What a call of Spark's may raise."""


def is_running(query: StreamingQuery) -> bool:
    """Whether it still asks for news."""
    try:
        return query.isActive
    except _GONE:
        return False


def why_ended(query: StreamingQuery) -> str:
    """The root of what ended it, in one line."""
    try:
        error = query.exception()
    except _GONE:
        return GONE
    return "the query was stopped" if error is None else reason(str(error))


def why_failed(error: BaseException) -> str:
    """The root of what one of Spark's calls raised, in one line."""
    return GONE if isinstance(error, OSError) else reason(str(error))


def stop_query(query: StreamingQuery) -> None:
    """End it, whatever it is at."""
    with suppress(*FAILURES):
        query.stop()
