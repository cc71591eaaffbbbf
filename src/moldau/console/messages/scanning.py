"""Looks through a topic for records: within a budget, and so that it can go on from there.

Oldest first goes forward from an offset. Newest first goes back in windows, each read forward;
windows grow while nothing is found, and shrink if one has more bytes than may be held.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.consumer.consumer import Consumer
from moldau.console.filters.matching import matching
from moldau.console.messages.query import MessageQuery
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

_POLL_S = 0.5
_SILENCE_S = 10.0
_WINDOW, _WINDOW_MAX = 1000, 500_000
_HELD_BYTES_MAX = 64 << 20
_COLUMNS = ("key", "value", "partition", "offset", "timestamp", "headers")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much one answer may look at."""

    seconds: float = 5.0
    records: int = 5_000_000
    bytes: int = 1 << 30


@dataclass(slots=True)
class Scan:
    """How far it came."""

    scanned: int = 0
    bytes: int = 0
    started_s: float = field(default_factory=time.monotonic)
    hits: int = 0
    cursor: dict[int, int] = field(default_factory=dict)
    """Where to go on; partitions that are done are not in it."""
    stopped: str = ""
    """end, limit or budget."""

    def is_over(self, budget: Budget) -> bool:
        """Whether the budget is used up."""
        spent_s = time.monotonic() - self.started_s
        return (
            spent_s >= budget.seconds
            or self.scanned >= budget.records
            or self.bytes >= budget.bytes
        )

    def progress(self) -> dict[str, object]:
        """For whoever waits."""
        spent_ms = int((time.monotonic() - self.started_s) * 1000)
        return {"scanned": self.scanned, "bytes": self.bytes, "hits": self.hits, "ms": spent_ms}


class Scanner:
    """One look at a topic."""

    def __init__(
        self, consumer: Consumer[bytes, bytes], topic: str, query: MessageQuery, budget: Budget
    ) -> None:
        self._consumer = consumer
        self._topic = topic
        self._query = query
        self._budget = budget
        self.scan = Scan()

    async def run(self) -> AsyncGenerator[pa.Table, None]:
        """Tables of hits, some of them empty: each says that it goes on."""
        known = [each.partition for each in await self._consumer.partitions_of(self._topic)]
        chosen = [TopicPartition(self._topic, each) for each in self._query.chosen(known)]
        first = await self._consumer.beginning_offsets(chosen)
        last = await self._bounds(chosen, await self._consumer.end_offsets(chosen))
        if self._query.start == "newest":
            async for table in self._back(first, last):
                yield table
            return
        async for table in self._forward(await self._starts(first), last):
            yield table

    async def _bounds(
        self, chosen: list[TopicPartition], last: dict[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        query = self._query
        if query.start == "newest" and query.cursor:
            return {each: query.cursor.get(each.partition, 0) for each in chosen}
        if query.to_ms is None or query.start != "newest":
            return last
        found = await self._consumer.offsets_for_times(dict.fromkeys(chosen, query.to_ms))
        return {each: last[each] if at is None else at.offset for each, at in found.items()}

    async def _starts(self, first: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        query = self._query
        if query.cursor:
            return {
                each: query.cursor[each.partition]
                for each in first
                if each.partition in query.cursor
            }
        if query.start == "offset":
            return {each: max(query.offset, at) for each, at in first.items()}
        if query.start == "time" and query.from_ms is not None:
            found = await self._consumer.offsets_for_times(dict.fromkeys(first, query.from_ms))
            return {each: at.offset for each, at in found.items() if at is not None}
        return first

    async def _forward(
        self, starts: Mapping[TopicPartition, int], last: Mapping[TopicPartition, int]
    ) -> AsyncIterator[pa.Table]:
        scan, limit = self.scan, self._query.limit
        scan.cursor = {each.partition: at for each, at in starts.items() if at < last[each]}
        async for table in self._read(starts, last):
            hits = await self._hits(table)
            left = limit - scan.hits
            if hits.num_rows >= left:
                hits = hits.slice(0, left)
                scan.hits = limit
                _go_on_after(scan.cursor, hits)
                scan.stopped = "limit"
                yield hits
                return
            scan.hits += hits.num_rows
            await self._note_positions(last)
            yield hits
            if scan.cursor and scan.is_over(self._budget):
                scan.stopped = "budget"
                return
        scan.stopped = "end"
        scan.cursor = {}

    async def _note_positions(self, last: Mapping[TopicPartition, int]) -> None:
        for partition in list(self.scan.cursor):
            whole = TopicPartition(self._topic, partition)
            at = await self._consumer.position(whole)
            self.scan.cursor[partition] = at
            if at >= last[whole]:
                del self.scan.cursor[partition]

    async def _back(
        self, first: Mapping[TopicPartition, int], last: Mapping[TopicPartition, int]
    ) -> AsyncIterator[pa.Table]:
        scan, limit = self.scan, self._query.limit
        ends = {each: at for each, at in last.items() if at > first[each]}
        window = limit if self._query.filter is None else _WINDOW
        while ends:
            starts = {each: max(at - window, first[each]) for each, at in ends.items()}
            found: list[pa.Table] = []
            held = 0
            async for table in self._read(starts, ends):
                hits = await self._hits(table)
                held += hits.nbytes
                found.append(hits)
                if held > _HELD_BYTES_MAX and window > 1:
                    break
                yield hits.slice(0, 0)
            if held > _HELD_BYTES_MAX and window > 1:
                window = max(window // 8, 1)
                continue
            hits, ends = self._newest(found, starts, limit - scan.hits)
            scan.hits += hits.num_rows
            ends = {each: at for each, at in ends.items() if at > first[each]}
            scan.cursor = {each.partition: at for each, at in ends.items()}
            yield hits
            if scan.hits >= limit or (ends and scan.is_over(self._budget)):
                scan.stopped = "limit" if scan.hits >= limit else "budget"
                return
            window = min(window * 4, _WINDOW_MAX)
        scan.stopped = "end"

    def _newest(
        self, found: list[pa.Table], starts: Mapping[TopicPartition, int], count: int
    ) -> tuple[pa.Table, dict[TopicPartition, int]]:
        """The newest of these, and where each partition is to be gone on from, backwards."""
        ends = dict(starts)
        if not found:
            return pa.table({name: [] for name in _COLUMNS}), ends
        table = pa.concat_tables(found)
        order = [("timestamp", "descending"), ("partition", "ascending"), ("offset", "descending")]
        table = table.take(pc.sort_indices(table, order))
        for partition, offset in zip(
            table["partition"].slice(count).to_pylist(),
            table["offset"].slice(count).to_pylist(),
            strict=True,
        ):
            whole = TopicPartition(self._topic, partition)
            ends[whole] = max(ends[whole], offset + 1)
        return table.slice(0, count), ends

    async def _read(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> AsyncIterator[pa.Table]:
        """Everything between, as it is fetched; gaps in offsets cost nothing."""
        consumer, scan = self._consumer, self.scan
        left = {each for each, at in starts.items() if at < ends[each]}
        consumer.assign({each: starts[each] for each in left})
        consumer.resume(*left)  # those that an earlier window had are still paused
        heard_s = time.monotonic()
        while left:
            table = await consumer.poll_table(_POLL_S, columns=_COLUMNS, end_offsets=ends)
            scan.scanned += table.num_rows
            scan.bytes += table.nbytes
            if table.num_rows:
                heard_s = time.monotonic()
            done = {each for each in left if await consumer.position(each) >= ends[each]}
            left -= done
            consumer.pause(*done)
            if left and time.monotonic() - heard_s > _SILENCE_S:
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"no records come of {min(left)}")
            yield table

    async def _hits(self, table: pa.Table) -> pa.Table:
        query = self._query
        asked = (query.filter, query.from_ms, query.to_ms, query.key)
        if not table.num_rows or all(each is None for each in asked):
            return table
        return await asyncio.to_thread(_matching, table, query)


def _matching(table: pa.Table, query: MessageQuery) -> pa.Table:
    stamps = table["timestamp"].cast(pa.int64())
    if query.from_ms is not None:
        table = table.filter(pc.greater_equal(stamps, query.from_ms))
        stamps = table["timestamp"].cast(pa.int64())
    if query.to_ms is not None:
        table = table.filter(pc.less(stamps, query.to_ms))
    if query.key is not None:
        table = table.filter(pc.equal(table["key"], pa.scalar(query.key.encode(), pa.binary())))
    return table if query.filter is None else matching(table, query.filter)


def _go_on_after(cursor: dict[int, int], hits: pa.Table) -> None:
    """After the last hit of its partition; the others go on from where they were."""
    pairs = zip(hits["partition"].to_pylist(), hits["offset"].to_pylist(), strict=True)
    cursor.update({partition: offset + 1 for partition, offset in pairs})


@asynccontextmanager
async def reading(
    settings: Mapping[str, object], *, is_uncommitted: bool
) -> AsyncIterator[Consumer[bytes, bytes]]:
    """A consumer for a look, which belongs to no group and creates nothing."""
    consumer = Consumer[bytes, bytes](
        {
            "client.id": "moldau-console",
            **settings,
            "allow.auto.create.topics": False,
            "isolation.level": "read_uncommitted" if is_uncommitted else "read_committed",
            "max.partition.fetch.bytes": 4 << 20,
            "fetch.max.bytes": 16 << 20,
            "default.api.timeout.ms": 5000,
        }
    )
    async with consumer:
        yield consumer
