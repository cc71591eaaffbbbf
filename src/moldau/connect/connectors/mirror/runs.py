"""Which offsets of a partition became which ones: runs of records that follow each other in both.

A run is known by its last record, as MirrorMaker's offset syncs are. A group that has read up to
some record of a run goes on after that record; one that is behind a run goes on after its end:
what comes later in the source comes later in the target. So no record is ever passed over.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from moldau.connect.connector import PlacedRows
from moldau.connect.connectors.mirror.layouts import OffsetSync
from moldau.model import TopicPartition

BEGINNING = 0
"""Of a log; where its first records are deleted, that is where the others begin."""
RUNS_MAX = 1024
"""So many are remembered of a partition: each transaction brings another one."""


@dataclass(frozen=True, slots=True)
class CopiedRun:
    """`count` records from an offset on, in both."""

    source: int
    target: int
    count: int

    def sync(self, partition: TopicPartition) -> OffsetSync:
        """As the topic of syncs has it."""
        last = self.count - 1
        return OffsetSync(partition, self.source + last, self.target + last, self.count)


def runs_of(offsets: Sequence[int], placed: Iterable[PlacedRows]) -> Iterator[CopiedRun]:
    """The runs of rows with these offsets in the source, which are placed in their order."""
    found: CopiedRun | None = None
    for rows in placed:
        for run in _within(offsets, rows):
            if (
                found is not None
                and found.source + found.count == run.source
                and found.target + found.count == run.target
            ):
                found = CopiedRun(found.source, found.target, found.count + run.count)
                continue
            if found is not None:
                yield found
            found = run
    if found is not None:
        yield found


def _within(offsets: Sequence[int], rows: PlacedRows) -> Iterator[CopiedRun]:
    row, end = rows.row, rows.row + rows.count
    while row < end:
        # Most have no gaps: offsets grow by one at least, so the last one shows it.
        stop = end if offsets[end - 1] - offsets[row] == end - 1 - row else row + 1
        while stop < end and offsets[stop] == offsets[stop - 1] + 1:
            stop += 1
        yield CopiedRun(offsets[row], rows.offset + row - rows.row, stop - row)
        row = stop


@dataclass(slots=True)
class SyncChoice:
    """Which runs of a transaction are written down: not each, where there are very many.

    The last one always is. Another one is if the last that was written ended `apart` records
    before its end: by so many records groups may be off in the middle of a log.
    """

    apart: int

    def chosen(self, runs: Iterable[CopiedRun]) -> Iterator[CopiedRun]:
        """Some of the runs."""
        skipped, last = 0, None
        for run in runs:
            if last is not None:
                skipped += last.count
                if skipped > self.apart:
                    yield last
                    skipped = 0
            last = run
        if last is not None:
            yield last


@dataclass(slots=True)
class OffsetMap:
    """The runs of one partition that are known."""

    _starts: list[int] = field(default_factory=list)
    _runs: list[CopiedRun] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, sync: OffsetSync) -> None:
        """Learn of one more; what is behind it, in either cluster, is of a log that is gone."""
        source, target = sync.source - sync.count + 1, sync.target - sync.count + 1
        run = CopiedRun(source, target, sync.count)
        while self._runs:
            last = self._runs[-1]
            if last == run:
                return
            is_behind = last.source + last.count <= source and last.target + last.count <= target
            if is_behind:
                break
            # Something was made anew: nothing of before is true.
            self._runs.clear()
            self._starts.clear()
        if len(self._runs) == RUNS_MAX:
            self._thin_out()
        self._starts.append(source)
        self._runs.append(run)

    def _thin_out(self) -> None:
        """Forget every other run of the older half: groups in it go on a little earlier."""
        half = len(self._runs) // 2
        del self._runs[1:half:2], self._starts[1:half:2]

    def translated(self, offset: int) -> int | None:
        """Where a group goes on that goes on at this offset in the source; None if unknown.

        Never after a record that it has not read: one that is before all runs that are known, as
        after compaction of the syncs, goes on at the beginning.
        """
        if not self._runs:
            return None
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return BEGINNING
        run = self._runs[index]
        return run.target + min(offset - run.source, run.count)
