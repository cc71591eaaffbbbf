"""The order in which rows of a micro-batch came, as far as there is one."""

import heapq
from collections.abc import Iterable, Iterator

from pyspark.sql import Row


def in_order(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows as Kafka Streams would take them.

    Within a partition they follow each other by offset; of several partitions the one whose next
    record has the least timestamp goes first. Rows have the columns `place` and `millis`.
    """
    origins: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        origins.setdefault((row.place["topic"], row.place["partition"]), []).append(row)
    for waiting in origins.values():
        waiting.sort(key=_position)
    # A merge compares the heads only: that is all that order among partitions means.
    ordered = (origins[origin] for origin in sorted(origins))
    return heapq.merge(*ordered, key=_time)


def _position(row: Row) -> tuple[int, list[int]]:
    return row.place["offset"], row.place["steps"]


def _time(row: Row) -> int:
    millis: int = row.millis
    return millis
