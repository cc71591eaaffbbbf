"""Counters, gauges and durations, written as Prometheus text.

Names are those that the usual rules of the JMX exporter give to Kafka's own metrics,
so that dashboards made for Apache Kafka work unchanged: a meter `FooPerSec` of type
`Bar` in `kafka.server` is `kafka_server_bar_foo_total`, a histogram keeps its name
with a `quantile` label and a `_count`.
"""

from collections.abc import Callable, Iterable, Iterator
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
        self._about: dict[str, str] = {}
        self._counters: dict[str, dict[Labels, Counter]] = {}
        self._durations: dict[str, dict[Labels, Durations]] = {}
        self._summaries: dict[str, dict[Labels, Callable[[], Durations]]] = {}
        self._gauges: dict[str, Callable[[], Iterable[tuple[Labels, float]]]] = {}

    def counter(self, name: str, about: str, **labels: str) -> Counter:
        """The counter of this name and these labels, made on first use.

        `about` is a sentence for readers of a dashboard that has the name.
        """
        self._about.setdefault(name, about)
        return self._counters.setdefault(name, {}).setdefault(tuple(labels.items()), Counter())

    def durations(self, name: str, about: str, **labels: str) -> Durations:
        """The durations of this name and these labels, made on first use."""
        self._about.setdefault(name, about)
        return self._durations.setdefault(name, {}).setdefault(tuple(labels.items()), Durations())

    def summary(self, name: str, about: str, read: Callable[[], Durations], **labels: str) -> None:
        """Durations that are put together at a scrape."""
        self._about.setdefault(name, about)
        self._summaries.setdefault(name, {})[tuple(labels.items())] = read

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """A single value, read at a scrape."""
        self.gauges(name, about, lambda: (((), read()),))

    def gauges(
        self, name: str, about: str, read: Callable[[], Iterable[tuple[Labels, float]]]
    ) -> None:
        """A value per set of labels, read at a scrape.

        There may be thousands, written in several turns of the event loop: what `read`
        returns may be taken a little at a time, and must bear changes in between.
        """
        self._about[name] = about
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
        return "".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The same line by line; between two of them counters may come, go and count."""
        for name, counters in sorted(self._counters.items()):
            yield self._head(name, "counter")
            for labels, counter in tuple(counters.items()):
                yield f"{name}{_written(labels)} {counter.value}\n"
        for name, read in sorted(self._gauges.items()):
            # Numbers that only grow and are kept elsewhere.
            yield self._head(name, "counter" if name.endswith("_total") else "gauge")
            for labels, value in read():
                yield f"{name}{_written(labels)} {value:.17g}\n"
        for name, durations in sorted(self._durations.items()):
            yield self._head(name, "summary")
            for labels, one in tuple(durations.items()):
                yield from _duration_lines(name, labels, one)
        for name, readers in sorted(self._summaries.items()):
            yield self._head(name, "summary")
            for labels, read_one in tuple(readers.items()):
                yield from _duration_lines(name, labels, read_one())

    def _head(self, name: str, kind: str) -> str:
        return f"# HELP {name} {self._about[name]}\n# TYPE {name} {kind}\n"


def _duration_lines(name: str, labels: Labels, durations: Durations) -> Iterator[str]:
    for quantile in QUANTILES:
        with_quantile = (*labels, ("quantile", f"{quantile:g}"))
        yield f"{name}{_written(with_quantile)} {durations.quantile_ms(quantile):.6g}\n"
    yield f"{name}_sum{_written(labels)} {durations.total_ns / 1e6:.6f}\n"
    yield f"{name}_count{_written(labels)} {durations.count}\n"


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
