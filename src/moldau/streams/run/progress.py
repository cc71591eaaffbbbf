"""What running queries do, as numbers: rows, rates, lag."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from moldau.runtime.metrics import Labels, Metrics

_PREFIX = "moldau_streams"


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """A query after its last micro-batch; lag is in records, as far as the source reports it."""

    batch_id: int
    input_rows: int
    input_rows_per_s: float
    processed_rows_per_s: float
    batch_ms: int
    lag: int | None
    state_rows: int
    state_bytes: int


_ABOUT = {
    "batch_id": "Number of a query's last micro-batch.",
    "input_rows": "Rows that the last micro-batch read.",
    "input_rows_per_s": "Rows that came in per second before the last micro-batch.",
    "processed_rows_per_s": "Rows that the last micro-batch processed per second.",
    "batch_ms": "Milliseconds that the last micro-batch took.",
    "lag": "Records between what a query has read and the end of its topics.",
    "state_rows": "Rows in the state of a query.",
    "state_bytes": "Bytes of memory that the state of a query takes.",
}
assert list(_ABOUT) == list(QueryProgress.__dataclass_fields__)


class Watched(Protocol):
    """A query as far as it is watched."""

    name: str
    failure_count: int

    @property
    def progress(self) -> Mapping[str, object] | None: ...

    @property
    def late_records(self) -> int: ...

    @property
    def failed_records(self) -> int: ...


def read_progress(reported: Mapping[str, object]) -> QueryProgress:
    """What Spark reports of a micro-batch, in short."""
    durations = reported.get("durationMs")
    sources = _items(reported.get("sources"))
    lags = [lag for source in sources if (lag := _lag(source)) is not None]
    operators = _items(reported.get("stateOperators"))
    return QueryProgress(
        batch_id=int(_number(reported.get("batchId"))),
        input_rows=int(_number(reported.get("numInputRows"))),
        input_rows_per_s=_number(reported.get("inputRowsPerSecond")),
        processed_rows_per_s=_number(reported.get("processedRowsPerSecond")),
        batch_ms=int(_number(_items_of(durations).get("triggerExecution"))),
        lag=sum(lags) if lags else None,
        state_rows=sum(int(_number(each.get("numRowsTotal"))) for each in operators),
        state_bytes=sum(int(_number(each.get("memoryUsedBytes"))) for each in operators),
    )


def lines(queries: Sequence[Watched]) -> list[str]:
    """A line of a terminal for each query, in columns."""
    width = max((len(query.name) for query in queries), default=0)
    return [f"{query.name:{width}}  {_shown(query)}" for query in queries]


def metrics(queries: Sequence[Watched]) -> Metrics:
    """The same for Prometheus, read at a scrape."""
    found = Metrics()

    def gauges(of: str) -> Iterator[tuple[Labels, float]]:
        for query in queries:
            progress = None if query.progress is None else read_progress(query.progress)
            value = None if progress is None else getattr(progress, of)
            if value is not None:
                yield (("query", query.name),), float(value)

    def counts(of: str) -> Iterator[tuple[Labels, float]]:
        for query in queries:
            yield (("query", query.name),), float(getattr(query, of))

    for of, about in _ABOUT.items():
        found.gauges(f"{_PREFIX}_{of}", about, lambda of=of: gauges(of))  # type: ignore[misc]
    for name, (of, about) in _COUNTED.items():
        found.gauges(f"{_PREFIX}_{name}", about, lambda of=of: counts(of))  # type: ignore[misc]
    return found


_COUNTED = {
    "failures": ("failure_count", "Times that a query failed and was started again."),
    "late_records": ("late_records", "Records that came after their windows had closed."),
    "failed_records": (
        "failed_records",
        "Records that functions failed on and that were left out.",
    ),
}


def _shown(query: Watched) -> str:
    parts = ["starting"] if query.progress is None else _progress(read_progress(query.progress))
    for count, words in (
        (query.late_records, "late"),
        (query.failed_records, "left out"),
        (query.failure_count, "failures"),
    ):
        if count:
            parts.append(f"{count:,} {words}")
    return "  ".join(parts)


def _progress(progress: QueryProgress) -> list[str]:
    parts = [
        f"batch {progress.batch_id:<6}",
        f"{progress.processed_rows_per_s:>9,.0f} rows/s",
        f"{progress.batch_ms:>6,} ms",
    ]
    if progress.lag is not None:
        parts.append(f"lag {progress.lag:<8,}")
    if progress.state_rows:
        size = f"{progress.state_bytes / 1e6:,.1f} MB"
        parts.append(f"state {progress.state_rows:,} rows, {size}")
    return parts


def _lag(source: Mapping[str, object]) -> int | None:
    """Records between where a source has read to and the end of its topics."""
    ends, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
    if not latest:
        return None
    return sum(max(offset - ends.get(place, offset), 0) for place, offset in latest.items())


def _offsets(reported: object) -> dict[tuple[str, str], int]:
    if isinstance(reported, str):
        try:
            reported = json.loads(reported)
        except ValueError:
            return {}
    if not isinstance(reported, dict):
        return {}
    return {
        (topic, partition): int(offset)
        for topic, partitions in reported.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }


def _number(reported: object) -> float:
    # Spark's rates are not a number as long as no time has passed.
    return float(reported) if isinstance(reported, int | float) and math.isfinite(reported) else 0.0


def _items(reported: object) -> list[Mapping[str, object]]:
    return [_items_of(each) for each in reported] if isinstance(reported, list | tuple) else []


def _items_of(reported: object) -> Mapping[str, object]:
    if isinstance(reported, Mapping):
        return reported
    return {}
