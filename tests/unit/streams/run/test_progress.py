"""What Spark tells of a query becomes a line and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.streams.run.progress import QueryProgress, line, metrics, read_progress

TOLD: dict[str, object] = {
    "batchId": 7,
    "numInputRows": 1200,
    "inputRowsPerSecond": 600.0,
    "processedRowsPerSecond": 4800.5,
    "durationMs": {"triggerExecution": 250},
    "sources": [
        {
            "endOffset": '{"lines":{"0":10,"1":20}}',
            "latestOffset": '{"lines":{"0":15,"1":20,"2":5}}',
        },
        {"endOffset": {"others": {"0": 1}}, "latestOffset": {"others": {"0": 3}}},
        {"endOffset": "not JSON", "latestOffset": None},
    ],
    "stateOperators": [{"numRowsTotal": 3}, {"numRowsTotal": 4}],
}


@dataclass
class Query:
    name: str
    progress: Mapping[str, object] | None = None
    failure_count: int = 0


def test_progress_is_read_from_what_spark_tells() -> None:
    assert read_progress(TOLD) == QueryProgress(7, 1200, 600.0, 4800.5, 250, 7, 7)


def test_what_spark_does_not_tell_is_nothing() -> None:
    told: dict[str, object] = {"batchId": 0, "inputRowsPerSecond": float("nan"), "sources": None}
    assert read_progress(told) == QueryProgress(0, 0, 0.0, 0.0, 0, None, 0)


def test_a_line_has_all_queries() -> None:
    queries = [Query("a", TOLD), Query("b", failure_count=2), Query("c", {"batchId": 1})]
    assert line(queries) == (
        "a: batch 7, 4,800 rows/s, 250 ms, lag 7 | b: starting, failed 2 times | "
        "c: batch 1, 0 rows/s, 0 ms"
    )


def test_metrics_have_a_value_for_each_query_that_has_one() -> None:
    text = metrics([Query("a", TOLD, 1), Query("b")]).text()
    assert 'moldau_streams_lag{query="a"} 7' in text
    assert 'moldau_streams_failures{query="b"} 0' in text
    assert 'moldau_streams_batch_ms{query="b"}' not in text
