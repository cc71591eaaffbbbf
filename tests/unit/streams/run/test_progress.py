"""What Spark tells of a query becomes a line and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.streams.run.progress import QueryProgress, lines, metrics, read_progress

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
    "stateOperators": [
        {"numRowsTotal": 3, "memoryUsedBytes": 1_000_000},
        {"numRowsTotal": 4, "memoryUsedBytes": 500_000},
    ],
}

BUSY = "batch 7           4,800 rows/s     250 ms  lag 7         state 7 rows, 1.5 MB"


@dataclass
class Query:
    name: str
    progress: Mapping[str, object] | None = None
    failure_count: int = 0
    late_records: int = 0
    failed_records: int = 0


def test_progress_is_read_from_what_spark_tells() -> None:
    assert read_progress(TOLD) == QueryProgress(7, 1200, 600.0, 4800.5, 250, 7, 7, 1_500_000)


def test_what_spark_does_not_tell_is_nothing() -> None:
    told: dict[str, object] = {"batchId": 0, "inputRowsPerSecond": float("nan"), "sources": None}
    assert read_progress(told) == QueryProgress(0, 0, 0.0, 0.0, 0, None, 0, 0)


def test_each_query_has_a_line() -> None:
    queries = [
        Query("a", TOLD, late_records=1200),
        Query("long", failure_count=2, failed_records=3),
        Query("c", {"batchId": 1}),
    ]
    assert lines(queries) == [
        f"a     {BUSY}  1,200 late",
        "long  starting  3 left out  2 failures",
        "c     batch 1               0 rows/s       0 ms",
    ]


def test_metrics_have_a_value_for_each_query_that_has_one() -> None:
    text = metrics([Query("a", TOLD, 1), Query("b")]).text()
    assert 'moldau_streams_lag{query="a"} 7' in text
    assert 'moldau_streams_failures{query="b"} 0' in text
    assert 'moldau_streams_late_records{query="a"} 0' in text
    assert 'moldau_streams_state_bytes{query="a"} 1500000' in text
    assert 'moldau_streams_batch_ms{query="b"}' not in text
