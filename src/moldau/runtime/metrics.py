"""Counters, gauges and durations, written as Prometheus text.

Names are those that the usual rules of the JMX exporter give to Kafka's own metrics,
so that dashboards made for Apache Kafka work unchanged: a meter `FooPerSec` of type
`Bar` in `kafka.server` is `kafka_server_bar_foo_total`, a histogram keeps its name
with a `quantile` label and a `_count`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Self

Labels = tuple[tuple[str, str], ...]
QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)

# Durations fall into buckets of a quarter of a power of two: quantiles are within 25 %.
_SUB_BUCKET_BITS = 2
_SUB_BUCKETS = 1 << _SUB_BUCKET_BITS
_BUCKET_COUNT = 64 * _SUB_BUCKETS


class Counter:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int = 1) -> None:
        """Count `amount` more."""
        self.value += amount


class Durations:
    """How long something took, as a count and quantiles in milliseconds."""

    __slots__ = ("_buckets", "count", "total_ns")

    def __init__(self) -> None:
        self._buckets = [0] * _BUCKET_COUNT
        self.count = 0
        self.total_ns = 0

    @classmethod
    def of_zeros(cls, count: int) -> Self:
        """So many durations of no length."""
        durations = cls()
        durations._buckets[0] = durations.count = count
        return durations

    def __add__(self, other: "Durations") -> "Durations":
        both = Durations()
        both._buckets = [
            one + another for one, another in zip(self._buckets, other._buckets, strict=True)
        ]
        both.count = self.count + other.count
        both.total_ns = self.total_ns + other.total_ns
        return both

    def record(self, duration_ns: int) -> None:
        """Note one duration."""
        self._buckets[_bucket_of(duration_ns)] += 1
        self.count += 1
        self.total_ns += duration_ns

    def quantile_ms(self, quantile: float) -> float:
        """The upper bound of the bucket in which the quantile lies; 0 without a record."""
        wanted = quantile * self.count
        seen = 0
        for bucket, count in enumerate(self._buckets):
            seen += count
            if count and seen >= wanted:
                return _upper_bound_ns(bucket) / 1e6
        return 0.0


class Metrics:
    """Everything that one broker counts."""

    def __init__(self) -> None:
        self._counters: dict[str, dict[Labels, Counter]] = {}
        self._durations: dict[str, dict[Labels, Durations]] = {}
        self._summaries: dict[str, dict[Labels, Callable[[], Durations]]] = {}
        self._gauges: dict[str, Callable[[], Iterable[tuple[Labels, float]]]] = {}

    def counter(self, name: str, **labels: str) -> Counter:
        """The counter of this name and these labels, made on first use."""
        return self._counters.setdefault(name, {}).setdefault(tuple(labels.items()), Counter())

    def durations(self, name: str, **labels: str) -> Durations:
        """The durations of this name and these labels, made on first use."""
        return self._durations.setdefault(name, {}).setdefault(tuple(labels.items()), Durations())

    def summary(self, name: str, read: Callable[[], Durations], **labels: str) -> None:
        """Durations that are put together when somebody looks."""
        self._summaries.setdefault(name, {})[tuple(labels.items())] = read

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """A single value, read when somebody looks."""
        self._gauges[name] = lambda: (((), read()),)

    def gauges(self, name: str, read: Callable[[], Iterable[tuple[Labels, float]]]) -> None:
        """A value per set of labels, read when somebody looks."""
        self._gauges[name] = read

    def forget(self, **labels: str) -> None:
        """Drop what carries these labels, e.g. the counters of a topic that was deleted."""
        key = tuple(labels.items())
        for counters in self._counters.values():
            counters.pop(key, None)
        for durations in self._durations.values():
            durations.pop(key, None)

    def text(self) -> str:
        """All metrics in Prometheus' text format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, counters in sorted(self._counters.items()):
            yield f"# TYPE {name} counter"
            for labels, counter in counters.items():
                yield f"{name}{_written(labels)} {counter.value}"
        for name, read in sorted(self._gauges.items()):
            yield f"# TYPE {name} gauge"
            for labels, value in read():
                yield f"{name}{_written(labels)} {value:.17g}"
        for name, families in sorted(self._durations.items()):
            yield from _duration_lines(name, families)
        for name, readers in sorted(self._summaries.items()):
            yield from _duration_lines(name, {labels: read() for labels, read in readers.items()})


def _duration_lines(name: str, families: Mapping[Labels, Durations]) -> Iterator[str]:
    yield f"# TYPE {name} summary"
    for labels, durations in families.items():
        for quantile in QUANTILES:
            with_quantile = (*labels, ("quantile", f"{quantile:g}"))
            yield f"{name}{_written(with_quantile)} {durations.quantile_ms(quantile):.6g}"
        yield f"{name}_sum{_written(labels)} {durations.total_ns / 1e6:.6f}"
        yield f"{name}_count{_written(labels)} {durations.count}"


def _written(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _bucket_of(duration_ns: int) -> int:
    if duration_ns < _SUB_BUCKETS:
        return max(duration_ns, 0)
    shift = duration_ns.bit_length() - 1 - _SUB_BUCKET_BITS
    bucket = (shift << _SUB_BUCKET_BITS) + (duration_ns >> shift)
    return min(bucket, _BUCKET_COUNT - 1)


def _upper_bound_ns(bucket: int) -> int:
    if bucket < _SUB_BUCKETS:
        return bucket
    shift = (bucket >> _SUB_BUCKET_BITS) - 1
    return (((bucket & (_SUB_BUCKETS - 1)) | _SUB_BUCKETS) + 1 << shift) - 1
