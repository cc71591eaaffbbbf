"""Metrics of clients in the layout of Kafka's tools."""

from collections.abc import Iterable, Iterator, Mapping

# The groups of Java's consumer; what is in none of them is in the client's own.
_CONSUMER_GROUPS = {
    "consumer-fetch-manager-metrics": (
        *("fetch-total", "bytes-consumed-total", "fetch-latency-avg", "fetch-latency-max"),
        *("records-lag-max", "fetched-bytes-waiting"),
    ),
    "consumer-coordinator-metrics": ("assigned-partitions", "rebalance-total", "commit-total"),
}


def producer_lines(metrics: Mapping[str, float], client_id: str) -> list[str]:
    """What a producer has done."""
    return list(_lines(_named(metrics, "producer", client_id)))


def consumer_lines(metrics: Mapping[str, float], client_id: str) -> list[str]:
    """What a consumer has done."""
    return list(_lines(_named(metrics, "consumer", client_id)))


def _named(metrics: Mapping[str, float], kind: str, client_id: str) -> Iterator[tuple[str, float]]:
    groups = _CONSUMER_GROUPS if kind == "consumer" else {}
    group_of = {name: group for group, names in groups.items() for name in names}
    for name, value in metrics.items():
        group = group_of.get(name, f"{kind}-metrics")
        yield f"{group}:{name}:{{client-id={client_id}}}", value


def _lines(named: Iterable[tuple[str, float]]) -> Iterator[str]:
    rows = sorted(named)
    width = max(len(name) for name, _ in rows)
    yield ""
    yield f"{'Metric Name':{width}}   Value"
    for name, value in rows:
        yield f"{name:{width}} : {value:.3f}"
