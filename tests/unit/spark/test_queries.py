"""Queries are asked also when their JVM is gone."""

from types import SimpleNamespace

from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from moldau.spark.queries import GONE, is_running, stop_query, why_ended, why_failed


class Gone:
    """A query whose JVM does not answer."""

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        raise ConnectionRefusedError

    def exception(self) -> None:
        raise Py4JNetworkError("no answer")

    def stop(self) -> None:
        raise Py4JNetworkError("no answer")


def query(**answers: object) -> StreamingQuery:
    return SimpleNamespace(**answers)  # type: ignore[return-value]


def test_a_query_that_has_ended_says_why() -> None:
    text = "[STREAM_FAILED] x terminated with exception: a.b.OddException: the cause"
    ended = query(isActive=False, exception=lambda: PySparkException(text))
    assert not is_running(ended)
    assert "the cause" in why_ended(ended)
    assert why_ended(query(exception=lambda: None)) == "the query was stopped"


def test_a_jvm_that_is_gone_is_the_cause() -> None:
    gone: StreamingQuery = Gone()  # type: ignore[assignment]
    assert not is_running(gone)
    assert why_ended(gone) == GONE
    assert why_failed(ConnectionRefusedError()) == GONE
    assert why_failed(PySparkException("a.b.OddException: the cause")) == "OddException: the cause"
    stop_query(gone)
