"""Reads partitions of the source, all of them with one consumer, as Arrow tables."""

import logging
import time
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.blocking.consumer import Consumer
from moldau.connect.connectors.mirror.positions import Beginning, beginning
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")
_MEASURED_S = 1.0


class MirrorReader:
    """Goes on after what was read last; where that is gone, it says so and begins with the rest."""

    def __init__(
        self, client: Mapping[str, object], starts: Mapping[TopicPartition, int | None], first: str
    ) -> None:
        self._consumer: Consumer[bytes, bytes] = Consumer(client)
        self._last = dict(starts)
        self._first = first
        self._measured_s = 0.0
        self._lags: dict[TopicPartition, int | None] = {}
        self.skipped = 0
        """How many offsets were gone before they were read."""
        try:
            self._begin()
        except BaseException:
            self._consumer.close()
            raise

    def _begin(self) -> None:
        """Find out where to read on."""
        places = list(self._last)
        starts = self._consumer.beginning_offsets(places)
        ends = self._consumer.end_offsets(places)
        offsets = {}
        for place, last in self._last.items():
            found = self._beginning(place, last, starts[place], ends[place])
            offsets[place] = found.offset
            self.skipped += found.skipped
            if found.problem is not None:
                _log.warning("%s", found.problem)
            self._last[place] = found.offset - 1
        self._consumer.assign(offsets)

    def _beginning(
        self, place: TopicPartition, last: int | None, start: int, end: int
    ) -> Beginning:
        if last is None and self._first == "latest":
            return Beginning(end)
        return beginning(place, last, start, end)

    def poll(self, timeout_s: float) -> dict[TopicPartition, pa.Table]:
        """What is there, in the order of offsets; empty if there is nothing in time."""
        try:
            table = self._consumer.poll_table(timeout_s, columns=COLUMNS)
        except KafkaError as error:
            if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                raise
            self._begin()
            return {}
        found: dict[TopicPartition, list[pa.RecordBatch]] = {}
        for batch in table.to_batches():  # each is of one partition
            if batch.num_rows:
                topic, number = batch.column("topic")[0], batch.column("partition")[0]
                place = TopicPartition(topic.as_py(), number.as_py())
                found.setdefault(place, []).append(batch)
        tables = {place: _bytes(batches) for place, batches in found.items()}
        for place, each in tables.items():
            self._last[place] = each.column("offset")[-1].as_py()
        self._measure()
        return tables

    def last(self, place: TopicPartition) -> int | None:
        """The offset of the last record that was read, or before the first one that will be."""
        return self._last[place]

    def is_behind(self) -> bool:
        """Whether a partition has more, or it is not known yet."""
        self._measured_s = 0.0
        self._measure()
        return any(lag is None or lag > 0 for lag in self._lags.values())

    def lags(self) -> dict[str, int]:
        """By topic, how many offsets are still to be read; of a second ago."""
        found: dict[str, int] = {}
        for place, lag in self._lags.items():
            found[place.topic] = found.get(place.topic, 0) + (lag or 0)
        return found

    def _measure(self) -> None:
        now_s = time.monotonic()
        if now_s - self._measured_s >= _MEASURED_S:
            self._measured_s = now_s
            self._lags = {place: self._consumer.lag(place) for place in self._last}

    def close(self) -> None:
        """Hang up."""
        self._consumer.close()


def _bytes(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Without the columns that are the same in each row, and times as numbers."""
    table = pa.Table.from_batches(batches)
    times = table.column("timestamp").cast(pa.int64())
    if pc.min(times).as_py() < 0:  # messages of old brokers have no time
        now = pa.scalar(int(time.time() * 1000), pa.int64())
        times = pc.if_else(pc.less(times, pa.scalar(0, pa.int64())), now, times)
    names = ("key", "value", "headers", "offset")
    return pa.table({**{name: table.column(name) for name in names}, "timestamp": times})
