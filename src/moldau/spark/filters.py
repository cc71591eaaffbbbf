"""Filters of a batch read that narrow what is fetched: by partition, offset and time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from moldau.model import TopicPartition
from moldau.spark.planning import Range

_PLACES: dict[str, Callable[[TopicPartition], object]] = {
    "topic": lambda each: each.topic,
    "partition": lambda each: each.partition,
}


@dataclass(slots=True)
class Narrowing:
    """What the filters of a query leave of its ranges."""

    places: list[tuple[str, frozenset[object]]] = field(default_factory=list)
    offset_first: int = 0
    offset_last: int = 2**63 - 2
    timestamp_first_ms: int | None = None
    """Nothing before the first record that is so late is wanted."""

    def take(self, filters: Iterable[Filter]) -> list[Filter]:
        """Use what can be used; what Spark still has to look at is returned."""
        return [each for each in filters if not self._takes(each)]

    def narrowed(self, ranges: Iterable[Range]) -> list[Range]:
        """What is left of ranges; times are looked up by a caller that can ask brokers."""
        found = []
        for partition, start, end in ranges:
            if all(_PLACES[name](partition) in wanted for name, wanted in self.places):
                first, last = max(start, self.offset_first), min(end, self.offset_last + 1)
                if first < last:
                    found.append(Range(partition, first, last))
        return found

    def _takes(self, given: Filter) -> bool:
        """Whether nothing is left of a filter for Spark to do."""
        match given:
            case EqualTo(attribute=(name,), value=value) if name in _PLACES:
                self.places.append((name, frozenset([value])))
                return True
            case In(attribute=(name,), value=values) if name in _PLACES:
                self.places.append((name, frozenset(values)))
                return True
            case EqualTo(attribute=("offset",), value=int(value)):
                self._bound(value, value)
                return True
            case GreaterThan(attribute=("offset",), value=int(value)):
                self._bound(value + 1, None)
                return True
            case GreaterThanOrEqual(attribute=("offset",), value=int(value)):
                self._bound(value, None)
                return True
            case LessThan(attribute=("offset",), value=int(value)):
                self._bound(None, value - 1)
                return True
            case LessThanOrEqual(attribute=("offset",), value=int(value)):
                self._bound(None, value)
                return True
            case EqualTo() | GreaterThan() | GreaterThanOrEqual():
                self._take_time(given)
        return False

    def _bound(self, first: int | None, last: int | None) -> None:
        if first is not None:
            self.offset_first = max(self.offset_first, first)
        if last is not None:
            self.offset_last = min(self.offset_last, last)

    def _take_time(self, given: EqualTo | GreaterThan | GreaterThanOrEqual) -> None:
        """A time from which on something is wanted; later records may be older, so Spark looks."""
        if given.attribute == ("timestamp",) and isinstance(given.value, datetime):
            # Brokers take what is below 0 for something else: -1 for the end of a partition.
            time_ms = max(int(given.value.timestamp() * 1000), 0)
            before = self.timestamp_first_ms
            self.timestamp_first_ms = time_ms if before is None else max(before, time_ms)
