"""What became of records in transactions: found by what readers of committed records get."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing

import pyarrow as pa

from moldau.client.arrow.tables import Handed, read_table, schema_of
from moldau.console.messages.batches import markers, transactional_ranges
from moldau.console.messages.reading import LogReader
from moldau.model import TopicPartition
from moldau.records.fetched import OFFSET_MAX

STATE = pa.field("state", pa.string())
"""None, or what is special about a row: open, aborted, commit marker, abort marker."""
_Suspects = dict[TopicPartition, dict[int, int]]
"""Rows of a table that are in transactions, by their offsets."""


class Fates:
    """Asks a reader of committed records about tables of a reader of all."""

    def __init__(self, committed: LogReader) -> None:
        self._committed = committed

    async def of(self, table: pa.Table, handed: Iterable[Handed]) -> pa.Table:
        """Records of what was fetched, with the column `state`."""
        ranges: dict[TopicPartition, list[range]] = {}
        for place, chunk, _ in handed:
            ranges.setdefault(place, []).extend(transactional_ranges(chunk.data))
        states: list[str | None] = [None] * table.num_rows
        suspects = _suspects(table, ranges)
        if suspects:
            ends = await self._committed.end_offsets(suspects)
            committed = await self._offsets(suspects, ends)
            for place, rows in suspects.items():
                for offset, row in rows.items():
                    if offset >= ends[place]:
                        states[row] = "open"
                    elif offset not in committed[place]:
                        states[row] = "aborted"
        return table.append_column(STATE, pa.array(states, STATE.type))

    async def _offsets(
        self, suspects: _Suspects, stable_ends: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, set[int]]:
        """The offsets of committed records among them."""
        found: dict[TopicPartition, set[int]] = {place: set() for place in suspects}
        starts = {place: min(rows) for place, rows in suspects.items()}
        ends = {place: min(max(suspects[place]) + 1, stable_ends[place]) for place in suspects}
        async with aclosing(self._committed.between(starts, ends)) as portions:
            async for handed in portions:
                for place, chunk, start_offset in handed:
                    only = [(place, chunk, start_offset)]
                    table = read_table(only, ["offset"], end_offsets=ends)
                    found[place].update(table["offset"].to_pylist())
        return found


def _suspects(table: pa.Table, ranges: Mapping[TopicPartition, Sequence[range]]) -> _Suspects:
    found: _Suspects = {}
    by_partition = {place.partition: (place, each) for place, each in ranges.items() if each}
    begins = {number: [one.start for one in each] for number, (_, each) in by_partition.items()}
    columns = (table["partition"].to_pylist(), table["offset"].to_pylist())
    for row, (partition, offset) in enumerate(zip(*columns, strict=True)):
        if partition not in by_partition:
            continue
        place, listed = by_partition[partition]
        at = bisect_right(begins[partition], offset) - 1
        if at >= 0 and offset in listed[at]:
            found.setdefault(place, {})[offset] = row
    return found


def marker_table(
    handed: Iterable[Handed],
    columns: Sequence[str],
    ends: Mapping[TopicPartition, int] | None = None,
) -> pa.Table:
    """Markers in what was fetched, as rows with these columns and the column `state`."""
    rows: list[dict[str, object]] = [
        {
            "partition": place.partition,
            "offset": each.offset,
            "timestamp": each.timestamp_ms,
            "headers": [],
            "state": "commit marker" if each.is_commit else "abort marker",
        }
        for place, chunk, start_offset in handed
        for each in markers(chunk.data, range(start_offset, (ends or {}).get(place, OFFSET_MAX)))
    ]
    schema = schema_of(columns).append(STATE)
    arrays = [
        pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
