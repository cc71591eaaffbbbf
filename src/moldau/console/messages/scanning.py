"""Looks through a topic for records: within a budget, and so that it can go on from there.

Oldest first goes forward from an offset. Newest first goes back in windows, each read forward;
windows grow while nothing is found, and shrink if one has more bytes than may be held.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.arrow.tables import Handed, read_table, schema_of
from moldau.console.filters.matching import matching
from moldau.console.messages.batches import within_times
from moldau.console.messages.decoding import matching_decoded, reads_json
from moldau.console.messages.payloads import Read
from moldau.console.messages.query import MessageQuery
from moldau.console.messages.reading import FetchSizes, LogReader, reading
from moldau.console.messages.transactions import Fates, marker_table
from moldau.console.messages.view import WHOLE, TopicView
from moldau.model import TopicPartition

_WINDOW, _WINDOW_MAX = 1000, 500_000
_HELD_BYTES_MAX = 24 << 20
Readers = tuple[LogReader, Fates | None]
"""Who reads, and who knows of transactions if all of them are read."""
COLUMNS = ("key", "value", "partition", "offset", "timestamp", "headers")


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
    batches_passed: int = 0
    """Batches that were not opened, since their headers say that they are of other times."""

    def is_over(self, budget: Budget) -> bool:
        """Whether the budget is used up."""
        spent_s = time.monotonic() - self.started_s
        return (
            spent_s >= budget.seconds
            or self.scanned >= budget.records
            or self.bytes >= budget.bytes
        )

    def progress(self) -> dict[str, object]:
        """For those who wait."""
        spent_ms = int((time.monotonic() - self.started_s) * 1000)
        return {
            "scanned": self.scanned,
            "bytes": self.bytes,
            "hits": self.hits,
            "passed": self.batches_passed,
            "ms": spent_ms,
        }

    def end(self) -> dict[str, object]:
        """For those who may go on."""
        cursor = ",".join(f"{partition}:{at}" for partition, at in sorted(self.cursor.items()))
        return {"stopped": self.stopped, "cursor": cursor, **self.progress()}


class Scanner:
    """One look at a topic."""

    def __init__(
        self,
        readers: Readers,
        topic: str,
        query: MessageQuery,
        budget: Budget,
        view: TopicView = WHOLE,
    ) -> None:
        self._view = view
        self._reader, self._fates = readers
        self._topic = topic
        self._query = query
        self._budget = budget
        self.scan = Scan()

    async def run(self) -> AsyncGenerator[pa.Table, None]:
        """Tables of hits, some of them empty: each says that it goes on."""
        known = [each.partition for each in await self._reader.partitions_of(self._topic)]
        chosen = [TopicPartition(self._topic, each) for each in self._query.chosen(known)]
        last = await self._reader.end_offsets(chosen)
        first = await self._firsts(chosen, last)
        last = await self._bounds(chosen, last)
        if self._query.start == "newest":
            async for table in self._back(first, last):
                yield table
            return
        async for table in self._forward(self._starts(first), last):
            yield table

    async def _firsts(
        self, chosen: list[TopicPartition], last: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Where records begin that can be wanted: none before is of the time or later."""
        if self._query.from_ms is None:
            return await self._reader.beginning_offsets(chosen)
        times = dict.fromkeys(chosen, self._query.from_ms)
        found = await self._reader.offsets_for_times(times)
        return {each: last[each] if at is None else at.offset for each, at in found.items()}

    async def _bounds(
        self, chosen: list[TopicPartition], last: dict[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        query = self._query
        if query.start == "newest" and query.cursor:
            return {each: query.cursor.get(each.partition, 0) for each in chosen}
        if query.to_ms is None or query.start != "newest":
            return last
        found = await self._reader.offsets_for_times(dict.fromkeys(chosen, query.to_ms))
        return {each: last[each] if at is None else at.offset for each, at in found.items()}

    def _starts(self, first: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        query = self._query
        if query.cursor:
            return {
                each: query.cursor[each.partition]
                for each in first
                if each.partition in query.cursor
            }
        if query.start == "offset":
            return {each: max(query.offset, at) for each, at in first.items()}
        return first

    async def _forward(
        self, starts: Mapping[TopicPartition, int], last: Mapping[TopicPartition, int]
    ) -> AsyncIterator[pa.Table]:
        scan, limit = self.scan, self._query.limit
        scan.cursor = {each.partition: at for each, at in starts.items() if at < last[each]}
        async for hits in self._read(starts, last):
            left = limit - scan.hits
            if hits.num_rows >= left:
                shown = hits.slice(0, left)
                scan.hits = limit
                _go_on_after(scan.cursor, shown)
                scan.stopped = "limit"
                yield shown
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
            at = await self._reader.position(whole)
            self.scan.cursor[partition] = at
            if at >= last[whole]:
                del self.scan.cursor[partition]

    async def _back(
        self, first: Mapping[TopicPartition, int], last: Mapping[TopicPartition, int]
    ) -> AsyncIterator[pa.Table]:
        scan, limit = self.scan, self._query.limit
        ends = {each: at for each, at in last.items() if at > first[each]}
        window = min(limit, _WINDOW_MAX) if self._query.filter is None else _WINDOW
        while ends:
            starts = {each: max(at - window, first[each]) for each, at in ends.items()}
            found: list[pa.Table] = []
            held = 0
            async for hits in self._read(starts, ends):
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
            return schema_of(COLUMNS).empty_table(), ends
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
        """Hits between these offsets, portion by portion; some have none."""
        async with aclosing(self._reader.between(starts, ends)) as portions:
            async for handed in portions:
                table, hits = await asyncio.to_thread(self._decode, handed, ends)
                self.scan.scanned += table.num_rows
                self.scan.bytes += table.nbytes
                if self._fates is not None:
                    hits = await self._fates.of(hits, handed)
                    if has_markers(self._query):
                        more = marker_table(handed, COLUMNS, ends)
                        hits = pa.concat_tables([hits, _within(more, self._query)])
                del table
                handed.clear()  # the reader of the hits may take a while
                yield hits

    def _decode(
        self, handed: list[Handed], ends: Mapping[TopicPartition, int]
    ) -> tuple[pa.Table, pa.Table]:
        """In a thread of its own: others go on."""
        query = self._query
        if query.from_ms is not None or query.to_ms is not None:
            for _, chunk, _ in handed:
                chunk.data, count = within_times(chunk.data, query.from_ms, query.to_ms)
                self.scan.batches_passed += count
        table = self._view.of(read_table(handed, COLUMNS, end_offsets=ends))
        return table, matching_query(table, query, self._view.read)


def matching_query(table: pa.Table, query: MessageQuery, read: Read | None = None) -> pa.Table:
    """The records that a query asks for, wherever they are."""
    if not table.num_rows:
        return table
    table = _within(table, query)
    if query.key is not None:
        table = table.filter(pc.equal(table["key"], pa.scalar(query.key.encode(), pa.binary())))
    if query.filter is None or not table.num_rows:
        return table
    if read is not None and reads_json(query.filter):
        return matching_decoded(table, query.filter, read)
    return matching(table, query.filter)


def _go_on_after(cursor: dict[int, int], hits: pa.Table) -> None:
    """After the last hit of its partition; the others go on from where they were."""
    pairs = zip(hits["partition"].to_pylist(), hits["offset"].to_pylist(), strict=True)
    cursor.update({partition: offset + 1 for partition, offset in pairs})


def has_markers(query: MessageQuery) -> bool:
    """Whether markers of transactions are shown: where nothing is looked for."""
    return query.filter is None and query.key is None


def _within(table: pa.Table, query: MessageQuery) -> pa.Table:
    """The records of the times that are wanted."""
    if query.from_ms is not None:
        stamps = table["timestamp"].cast(pa.int64())
        table = table.filter(pc.greater_equal(stamps, query.from_ms))
    if query.to_ms is not None:
        table = table.filter(pc.less(table["timestamp"].cast(pa.int64()), query.to_ms))
    return table


@asynccontextmanager
async def readers(
    settings: Mapping[str, object], *, is_uncommitted: bool, sizes: FetchSizes | None = None
) -> AsyncIterator[Readers]:
    """Who is needed for a look."""
    async with AsyncExitStack() as stack:
        every = reading(settings, is_uncommitted=is_uncommitted, sizes=sizes)
        reader = await stack.enter_async_context(every)
        if not is_uncommitted:
            yield reader, None
            return
        committed = reading(settings, is_uncommitted=False, sizes=sizes)
        yield reader, Fates(await stack.enter_async_context(committed))
