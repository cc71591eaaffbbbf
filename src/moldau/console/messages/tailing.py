"""Follows a topic as it grows: a bounded part of it, and how much was left out.

What is fetched in a tenth of a second is bounded, and so is what waits to be shown. A view that
stays behind for a second goes on near the end: a fast topic is never read as a whole. A reader that
comes back names the offsets of the last frame, and goes on from there.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.arrow.tables import Handed, read_table
from moldau.console.messages.payloads import shown_rows
from moldau.console.messages.query import MessageQuery, read_cursor
from moldau.console.messages.reading import FetchSizes
from moldau.console.messages.scanning import (
    COLUMNS,
    Readers,
    has_markers,
    matching_query,
    readers,
)
from moldau.console.messages.transactions import marker_table
from moldau.console.messages.view import WHOLE, TopicView
from moldau.errors import KafkaError
from moldau.model import TopicPartition

FRAME_ROWS_MAX = 50
FRAME_S = 0.1
KEPT_ROWS_MAX = 500
_BEHIND_S = 1.0
_WAIT_S = 1.0
_AGAIN_S = 1.0
SIZES = FetchSizes(256 << 10, 1 << 20)


@dataclass(slots=True)
class LiveFrame:
    """What is new, and what was left out since the last one."""

    rows: list[dict[str, object]] = field(default_factory=list)
    jumped: int = 0
    """Offsets that were never read."""
    dropped: int = 0
    """Records that matched, but were more than can be shown."""
    scanned: int = 0
    cursor: str = ""
    """Where to go on after these rows."""
    error: str | None = None

    @property
    def has_news(self) -> bool:
        """Whether there is something to send."""
        return bool(self.rows or self.jumped or self.dropped or self.error)


class Tail:
    """One view of a topic that is open."""

    def __init__(
        self,
        readers: Readers,
        topic: str,
        query: MessageQuery,
        view: TopicView = WHOLE,
    ) -> None:
        self._reader, self._fates = readers
        self._view = view
        self._topic = topic
        self._query = query
        self._kept: deque[dict[str, object]] = deque()
        self._next: dict[int, int] = {}
        self._behind_since_s: float | None = None
        self._jumped = self._dropped = self._scanned = 0

    async def open(self, cursor: Mapping[int, int]) -> None:
        """Begin at the end, or where an earlier view ended if that is still there."""
        known = [each.partition for each in await self._reader.partitions_of(self._topic)]
        chosen = [TopicPartition(self._topic, each) for each in self._query.chosen(known)]
        ends = await self._reader.end_offsets(chosen)
        first = await self._reader.beginning_offsets(chosen) if cursor else {}
        for place, end in ends.items():
            wanted = cursor.get(place.partition, end)
            at = min(max(wanted, first.get(place, end)), end)
            self._jumped += max(at - wanted, 0)
            self._next[place.partition] = at
        self._reader.assign({each: self._next[each.partition] for each in chosen})

    async def step(self) -> LiveFrame:
        """What came since the last step; waits a second for it at most."""
        wait_s = 0.0 if self._kept else _WAIT_S
        handed = await self._reader.poll_chunks(wait_s)
        if handed:
            await self._take(handed)
        self._jump_if_behind()
        sent = [self._kept.popleft() for _ in range(min(len(self._kept), FRAME_ROWS_MAX))]
        frame = LiveFrame(sent, self._jumped, self._dropped, self._scanned, self._cursor())
        self._jumped = self._dropped = 0
        return frame

    async def _take(self, handed: list[Handed]) -> None:
        """Keep the newest of what was fetched; all that takes long is done in a thread."""
        scanned, matched, hits = await asyncio.to_thread(_newest, handed, self._query, self._view)
        if self._fates is not None:
            hits = await self._fates.of(hits, handed)
            if has_markers(self._query):
                more = marker_table(handed, COLUMNS).slice(0, KEPT_ROWS_MAX)
                hits = pa.concat_tables([hits, more])
                matched += more.num_rows
        self._kept += await asyncio.to_thread(
            shown_rows, hits, self._view.read, self._query.columns
        )
        self._scanned += scanned
        self._dropped += matched - hits.num_rows
        while len(self._kept) > KEPT_ROWS_MAX:
            self._kept.popleft()
            self._dropped += 1
        for place, chunk, _ in handed:
            self._next[place.partition] = chunk.next_offset

    def _jump_if_behind(self) -> None:
        places = [TopicPartition(self._topic, each) for each in self._next]
        behind = {each: lag for each in places if (lag := self._reader.lag(each))}
        now_s = time.monotonic()
        if not behind:
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = now_s
        elif now_s - self._behind_since_s >= _BEHIND_S:
            self._behind_since_s = None
            for place, lag in behind.items():
                self._jump(place, lag)

    def _jump(self, place: TopicPartition, lag: int) -> None:
        """To the last records of a partition."""
        at = self._next[place.partition]
        to = at + max(lag - FRAME_ROWS_MAX, 0)
        if to > at:
            self._reader.seek(place, to)
            self._jumped += to - at
            self._next[place.partition] = to

    def _cursor(self) -> str:
        """Rows that are kept back belong to those who come back."""
        found = dict(self._next)
        for row in self._kept:
            partition, offset = row["partition"], int(str(row["offset"]))
            assert isinstance(partition, int)
            found[partition] = min(found[partition], offset)
        return ",".join(f"{partition}:{at}" for partition, at in sorted(found.items()))


def _newest(
    handed: list[Handed], query: MessageQuery, view: TopicView
) -> tuple[int, int, pa.Table]:
    """How many records were fetched, how many of them match, and the newest of these."""
    table = view.of(read_table(handed, COLUMNS))
    hits = matching_query(table, query, view.read)
    order = [("timestamp", "ascending"), ("partition", "ascending"), ("offset", "ascending")]
    newest = hits.take(pc.sort_indices(hits, order)[-KEPT_ROWS_MAX:])
    return table.num_rows, hits.num_rows, newest


async def follow(
    settings: Mapping[str, object], topic: str, query: MessageQuery, view: TopicView = WHOLE
) -> AsyncGenerator[LiveFrame, None]:
    """Frames without end, one in a second at least.

    A cluster that goes away is waited for; what came meanwhile is shown as far as it fits.
    """
    cursor = dict(query.cursor)
    while True:
        try:
            async with readers(settings, is_uncommitted=query.is_uncommitted, sizes=SIZES) as found:
                tail = Tail(found, topic, query, view)
                await tail.open(cursor)
                while True:
                    began_s = time.monotonic()
                    frame = await tail.step()
                    cursor = read_cursor(frame.cursor)
                    yield frame
                    await asyncio.sleep(max(FRAME_S - (time.monotonic() - began_s), 0.0))
        except (KafkaError, TimeoutError, OSError) as error:
            yield LiveFrame(error=str(error) or "the cluster does not answer")
            await asyncio.sleep(_AGAIN_S)
