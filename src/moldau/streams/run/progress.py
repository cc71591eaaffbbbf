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


_ABOUT = {
    "batch_id": "Number of a query's last micro-batch.",
    "input_rows": "Rows that the last micro-batch read.",
    "input_rows_per_s": "Rows that came in per second before the last micro-batch.",
    "processed_rows_per_s": "Rows that the last micro-batch processed per second.",
    "batch_ms": "Milliseconds that the last micro-batch took.",
    "lag": "Records between what a query has read and the end of its topics.",
    "state_rows": "Rows in the state of a query.",
}
assert list(_ABOUT) == list(QueryProgress.__dataclass_fields__)


class Watched(Protocol):
    """A query as far as it is watched."""

    name: str
    failure_count: int

    @property
    def progress(self) -> Mapping[str, object] | None: ...


def read_progress(told: Mapping[str, object]) -> QueryProgress:
    """What Spark reports of a micro-batch, in short."""
    durations = told.get("durationMs")
    sources = _items(told.get("sources"))
    lags = [lag for source in sources if (lag := _lag(source)) is not None]
    operators = _items(told.get("stateOperators"))
    return QueryProgress(
        batch_id=int(_number(told.get("batchId"))),
        input_rows=int(_number(told.get("numInputRows"))),
        input_rows_per_s=_number(told.get("inputRowsPerSecond")),
        processed_rows_per_s=_number(told.get("processedRowsPerSecond")),
        batch_ms=int(_number(_items_of(durations).get("triggerExecution"))),
        lag=sum(lags) if lags else None,
        state_rows=sum(int(_number(each.get("numRowsTotal"))) for each in operators),
    )


def line(queries: Sequence[Watched]) -> str:
    """All queries in one line of a terminal."""
    return " | ".join(_told(query) for query in queries)


def metrics(queries: Sequence[Watched]) -> Metrics:
    """The same for Prometheus, read at a scrape."""
    found = Metrics()

    def gauges(of: str) -> Iterator[tuple[Labels, float]]:
        for query in queries:
            progress = None if query.progress is None else read_progress(query.progress)
            value = None if progress is None else getattr(progress, of)
            if value is not None:
                yield (("query", query.name),), float(value)

    for of, about in _ABOUT.items():
        found.gauges(f"{_PREFIX}_{of}", about, lambda of=of: gauges(of))  # type: ignore[misc]
    found.gauges(
        f"{_PREFIX}_failures",
        "Times that a query failed and was started again.",
        lambda: [((("query", each.name),), float(each.failure_count)) for each in queries],
    )
    return found


def _told(query: Watched) -> str:
    failures = f", failed {query.failure_count} times" if query.failure_count else ""
    if query.progress is None:
        return f"{query.name}: starting{failures}"
    progress = read_progress(query.progress)
    lag = "" if progress.lag is None else f", lag {progress.lag:,}"
    return (
        f"{query.name}: batch {progress.batch_id}, {progress.processed_rows_per_s:,.0f} rows/s, "
        f"{progress.batch_ms:,} ms{lag}{failures}"
    )


def _lag(source: Mapping[str, object]) -> int | None:
    """Records between where a source has read to and the end of its topics."""
    ends, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
    if not latest:
        return None
    return sum(max(offset - ends.get(place, offset), 0) for place, offset in latest.items())


def _offsets(told: object) -> dict[tuple[str, str], int]:
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except ValueError:
            return {}
    if not isinstance(told, dict):
        return {}
    return {
        (topic, partition): int(offset)
        for topic, partitions in told.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }


def _number(told: object) -> float:
    # Spark's rates are not a number as long as no time has passed.
    return float(told) if isinstance(told, int | float) and math.isfinite(told) else 0.0


def _items(told: object) -> list[Mapping[str, object]]:
    return [_items_of(each) for each in told] if isinstance(told, list | tuple) else []


def _items_of(told: object) -> Mapping[str, object]:
    if isinstance(told, Mapping):
        return told
    return {}
