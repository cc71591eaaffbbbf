"""The files that compaction writes: a segment in the making, under `.cleaned` names."""

from typing import TYPE_CHECKING

from moldau.log import names
from moldau.log.indexes import Indexes
from moldau.log.time_index import TimestampOffset
from moldau.log.transaction_index import AbortedTransaction
from moldau.runtime import native
from moldau.runtime.disk import Disk

if TYPE_CHECKING:
    from moldau.log import cleaner_kernel as kernel
else:
    kernel = native.kernel("moldau.log._cleaner_kernel", "moldau.log.cleaner_kernel")

_MARKS_MAX = 4096


class CleanedFile:
    """Takes retained batches through `output`; writes them, and indexes where they are."""

    def __init__(
        self,
        disk: Disk,
        folder_path: str,
        base_offset: int,
        *,
        interval_bytes: int,
        buffer: bytearray,
    ) -> None:
        self.size = 0
        self._disk = disk
        self._folder_path = folder_path
        self._prefix = f"{folder_path}/{names.segment_file(base_offset, '')}"
        for kind in names.SEGMENT_SUFFIXES:
            disk.remove(self._path(kind))
        self._file = disk.open_append(self._path(names.LOG))
        self._indexes = Indexes(base_offset)
        self._buffer = buffer
        self._marks = memoryview(bytearray(_MARKS_MAX * 32)).cast("q")
        self.output = kernel.Output(memoryview(buffer), self._marks, interval_bytes)

    def make_room(self, size: int) -> None:
        """Write out what is there, so that a batch of `size` bytes fits."""
        self.flush()
        if size > len(self._buffer):
            self._buffer = bytearray(size)
            self.output.clear(memoryview(self._buffer))

    def add_aborted(self, transaction: AbortedTransaction) -> None:
        """Note an aborted transaction of which batches may be left."""
        self._indexes.add_aborted(transaction)

    def flush(self) -> None:
        """Append the output so far to the file."""
        output = self.output
        if output.position:
            self._file.append(memoryview(self._buffer)[: output.position])
        for mark in range(0, output.mark_count * 4, 4):
            position, last_offset, timestamp, timestamp_offset = self._marks[mark : mark + 4]
            self._indexes.offsets.append(last_offset, self.size + position)
            self._indexes.times.append(timestamp, timestamp_offset)
        self.size += output.position
        output.clear(memoryview(self._buffer))

    def finish(self, *, modified_ms: int) -> None:
        """Make everything durable; retention goes by the time of the newest segment replaced."""
        self.flush()
        self._indexes.add_last(
            TimestampOffset(self.output.largest_timestamp, self.output.largest_offset)
        )
        for file in (self._file, *self._indexes.write(self._disk, self._path)):
            file.sync()
        self._disk.set_modified(self._path(names.LOG), modified_ms)
        self._disk.sync_directory(self._folder_path)

    def remove(self) -> None:
        """Give up."""
        for kind in names.SEGMENT_SUFFIXES:
            self._disk.remove(self._path(kind))

    def _path(self, kind: str) -> str:
        return self._prefix + kind + names.CLEANED
