"""Compaction: rewriting sealed segments so that each key keeps its newest record only.

The work needs a `CleaningPlan`, the disk and nothing of the log, so it runs in a thread.
First the newest offset of every dirty key goes into a map of bounded size; if it is full
before the dirty part ends, the rest waits for the next time. Then all segments up to there
are copied without the records that have a newer one, in groups that make one new segment
each. `moldau.log.cleaning_swap` puts a finished one into the log.

Offsets never change: a batch keeps its base offset, its last offset and its sequence.
What stays although no reader needs it: tombstones and markers, for `delete.retention.ms`
after compaction first found nothing older (KIP-534: the batch's delete horizon); the last
batch of each producer even if empty, so that its sequence is found again; and the last
batch of all, so that its offset is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from moldau.errors import ProtocolError
from moldau.log import names
from moldau.log.batch_filter import SECTION_MAX_BYTES, BatchFilter, require_intact
from moldau.log.cleaned_file import CleanedFile
from moldau.log.cleaned_transactions import CleanedTransactions
from moldau.log.cleaning_plan import CleaningPlan, SourceSegment
from moldau.log.index import RELATIVE_OFFSET_MAX
from moldau.log.key_map import FULL, MORE, KeyMap
from moldau.log.pace import Pace
from moldau.records.batch import BatchHeader, read_section
from moldau.records.control import read_end_marker
from moldau.runtime import native
from moldau.runtime.disk import Disk

if TYPE_CHECKING:
    from moldau.log import cleaner_kernel as kernel
else:
    kernel = native.kernel("moldau.log._cleaner_kernel", "moldau.log.cleaner_kernel")

BYTES_PER_KEY = 24


class KeyMapTooSmall(Exception):
    """Not even one batch's keys fit: this log cannot be compacted with so little memory."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The memory that one cleaner may use, and the secret of its hashes (16 random bytes)."""

    seed: bytes
    key_map_bytes: int = 128 * 1024 * 1024
    load_factor: float = 0.9
    chunk_bytes: int = 256 * 1024


class CleanedSegment(NamedTuple):
    """A finished replacement, its files durable under `.cleaned` names."""

    replaced: tuple[int, ...]  # base offsets; the first is the replacement's own
    size: int
    modified_ms: int


class Cleaner:
    """Compacts one log, once.

    Raises ProtocolError where a segment is damaged, and whatever the disk and `pace` raise.
    """

    def __init__(self, disk: Disk, plan: CleaningPlan, workspace: Workspace, pace: Pace) -> None:
        self.bytes_read = 0
        self.bytes_written = 0
        self.records_read = 0
        self.records_retained = 0
        self._disk = disk
        self._plan = plan
        self._workspace = workspace
        self._pace = pace
        self._keys = _new_key_map(plan, workspace)

    @property
    def end_offset(self) -> int:
        """Up to where the log is clean, once all `segments` are swapped in."""
        return self._keys.latest_offset + 1

    def segments(self) -> Iterator[CleanedSegment]:
        """Do the work, up to the next finished segment each time.

        The caller swaps it in before it asks for the next one.
        """
        self._map_keys()
        cleaned = tuple(s for s in self._plan.sources if s.base_offset < self.end_offset)
        batch_filter = BatchFilter(self._plan, self._keys)
        for group in self._groups(cleaned):
            yield self._clean(group, batch_filter)
        self.records_read = batch_filter.records_read
        self.records_retained = batch_filter.records_retained

    # Mapping

    def _map_keys(self) -> None:
        first_dirty = self._plan.first_dirty_offset
        dirty = [source for source in self._plan.sources if source.end_offset > first_dirty]
        # The markers of those that ended before are not come across, and would be missed.
        transactions = CleanedTransactions(
            aborted
            for aborted in self._plan.aborted
            if dirty and aborted.last_offset >= dirty[0].base_offset
        )
        for source in dirty:

            def use(chunk: memoryview) -> int | None:
                return self._map_chunk(chunk, transactions)

            if not self._walk(source, use):
                if self.end_offset == self._plan.first_dirty_offset:
                    raise KeyMapTooSmall(f"{self._workspace.key_map_bytes} bytes of key map")
                return
            # Compaction may have taken the batches before the segment's end.
            self._keys.latest_offset = max(self._keys.latest_offset, source.end_offset - 1)

    def _map_chunk(self, chunk: memoryview, transactions: CleanedTransactions) -> int | None:
        """Map the keys of the whole batches in `chunk`; None if the map is full."""
        position = 0
        while True:
            position, why = self._keys.map_batches(chunk, position)
            if why == MORE:
                return position
            if why == FULL:
                return None
            header = BatchHeader.read(chunk, position)
            batch = chunk[position : position + header.size]
            if header.is_control:
                transactions.end(header, read_end_marker(batch))
            elif not transactions.is_aborted(header) and not self._map_batch(header, batch):
                return None
            if header.last_offset >= self._plan.first_dirty_offset:
                self._keys.latest_offset = header.last_offset
            position += header.size

    def _map_batch(self, header: BatchHeader, batch: memoryview) -> bool:
        """Map the keys of a batch that is not plain; False if the map is full."""
        if header.last_offset < self._plan.first_dirty_offset:
            return True
        require_intact(header, batch)
        section = memoryview(read_section(batch, 0, header, limit_bytes=SECTION_MAX_BYTES))
        return self._keys.map_records(batch, section)

    # Rewriting

    def _clean(self, group: Sequence[SourceSegment], batch_filter: BatchFilter) -> CleanedSegment:
        target = CleanedFile(
            self._disk,
            self._plan.folder_path,
            group[0].base_offset,
            interval_bytes=self._plan.index_interval_bytes,
            buffer=bytearray(self._workspace.chunk_bytes),
        )

        def use(chunk: memoryview) -> int:
            size_before = target.size
            used = batch_filter.copy(chunk, target)
            self._pace.moved(target.size - size_before)
            return used

        try:
            for source in group:
                self._walk(source, use)
            modified_ms = self._modified_ms(group[-1])
            target.finish(modified_ms=modified_ms)
        except BaseException:
            target.remove()
            raise
        self.bytes_written += target.size
        return CleanedSegment(tuple(s.base_offset for s in group), target.size, modified_ms)

    def _groups(self, sources: Sequence[SourceSegment]) -> Iterator[list[SourceSegment]]:
        """Segments that fit one segment together, by size, index sizes and offset span."""
        group: list[SourceSegment] = []
        size = index_size = time_index_size = 0
        for source in sources:
            size += source.size
            index_size += self._index_size(source, names.OFFSET_INDEX)
            time_index_size += self._index_size(source, names.TIME_INDEX)
            fits = (
                size <= self._plan.segment_bytes
                and max(index_size, time_index_size) <= self._plan.segment_index_bytes
            )
            if group and source.size:
                span = source.end_offset - 1 - group[0].base_offset
                fits = fits and span <= RELATIVE_OFFSET_MAX
            if group and not fits:
                yield group
                group = []
                size = source.size
                index_size = self._index_size(source, names.OFFSET_INDEX)
                time_index_size = self._index_size(source, names.TIME_INDEX)
            group.append(source)
        if group:
            yield group

    # Reading

    def _walk(self, source: SourceSegment, use: Callable[[memoryview], int | None]) -> bool:
        """Show a segment's bytes to `use`, which says how many were whole batches, or None to stop.

        Says whether the end was reached.
        """
        file = self._disk.open_read(self._path(source, names.LOG))
        position = 0
        wanted = self._workspace.chunk_bytes
        while position < source.size:
            chunk = memoryview(file.read(position, min(wanted, source.size - position)))
            self.bytes_read += len(chunk)
            self._pace.moved(len(chunk))
            used = use(chunk)
            if used is None:
                return False
            position += used
            wanted = self._workspace.chunk_bytes
            if used == 0:
                wanted = BatchHeader.read(chunk).size
                if not len(chunk) < wanted <= source.size - position:
                    raise ProtocolError(f"the batch at {position} of {source} is cut off")
        return True

    def _path(self, source: SourceSegment, kind: str) -> str:
        return f"{self._plan.folder_path}/{names.segment_file(source.base_offset, kind)}"

    def _index_size(self, source: SourceSegment, kind: str) -> int:
        entry = self._disk.status(self._path(source, kind))
        return entry.size if entry else 0

    def _modified_ms(self, source: SourceSegment) -> int:
        entry = self._disk.status(self._path(source, names.LOG))
        return entry.modified_ms if entry else self._plan.now_ms


def _new_key_map(plan: CleaningPlan, workspace: Workspace) -> KeyMap:
    """As many slots as there is memory for, but not more than there can be keys."""
    records_max = max(0, plan.first_uncleanable_offset - plan.first_dirty_offset)
    slots_wanted = int(records_max / workspace.load_factor) + 2
    slots = max(2, min(workspace.key_map_bytes // BYTES_PER_KEY, slots_wanted))
    table = memoryview(bytearray(slots * BYTES_PER_KEY)).cast("Q")
    count_max = min(int(slots * workspace.load_factor), slots - 1)
    return kernel.key_map(table, workspace.seed, count_max, plan.first_dirty_offset)
