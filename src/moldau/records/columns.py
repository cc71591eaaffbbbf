"""Records as columns, in the memory layout of Apache Arrow but without needing it.

Buffers are plain memory that `pyarrow.py_buffer` wraps without copying. Filling fresh memory
can cost more than reading the records, since the operating system hands it out page by page; a
reader that runs for long therefore passes the `allocate` of a `MemoryPool` (see pool.py), or
another that uses memory again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from moldau.records.buffers import ReadableBuffer
from moldau.records.fetched import FetchedBatches, Selection, StopReason, kernel

if TYPE_CHECKING:
    from moldau.records.kernel import BatchRun, RecordCursor

Allocate = Callable[[int], bytearray | memoryview]
"""Gives writable memory of at least so many bytes, of any content."""

COLUMN_BYTES_MAX = 2**31 - 1  # what Arrow's int32 offsets can address
DEFAULT_MAX_BYTES = 256 << 20
EVERYTHING = Selection()

_KEYS_PART = 4  # keys seldom have more than this part of the bytes


@dataclass(frozen=True, slots=True)
class BinaryColumn:
    """Byte strings: row `i` is `data[offsets[i]:offsets[i + 1]]`, int32 offsets.

    Bit `validity_start + i` of `validity`, lowest bit first, is 0 where the row is null;
    None says that no row is.
    """

    offsets: memoryview
    data: memoryview
    validity: memoryview | None = None
    null_count: int = 0
    validity_start: int = 0


@dataclass(frozen=True, slots=True)
class HeadersColumn:
    """A list of headers per row: row `i` has those from `offsets[i]` to `offsets[i + 1]`."""

    offsets: memoryview
    keys: BinaryColumn
    values: BinaryColumn


@dataclass(frozen=True, slots=True)
class Columns:
    """The records of a range of one partition.

    `offsets` and `timestamps` are int64, `timestamp_types` int8 (0 set by the producer, 1 by
    the broker on append). `next_offset` is where to fetch next, `position` how many of the
    fetched bytes were read, `stop` why no more.
    """

    row_count: int
    offsets: memoryview
    timestamps: memoryview
    timestamp_types: memoryview
    keys: BinaryColumn | None
    values: BinaryColumn | None
    headers: HeadersColumn | None
    next_offset: int
    position: int
    stop: StopReason
    selection_left: Selection = EVERYTHING
    """With which to go on after `position`."""


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns to fill beside offsets and timestamps, which are always there.

    Not much more than `total_bytes_max` of records at a time are wanted: about one batch.
    """

    keys: bool = True
    values: bool = True
    headers: bool = True
    total_bytes_max: int = COLUMN_BYTES_MAX


ALL_COLUMNS = WantedColumns()


def decode_columns(
    data: ReadableBuffer,
    selection: Selection = EVERYTHING,
    *,
    wanted: WantedColumns = ALL_COLUMNS,
    allocate: Allocate = kernel.allocate,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Columns:
    """Turn the batches of a fetch response into columns.

    Stops early before the batch with which the decompressed records would exceed `max_bytes`,
    or what is wanted at a time, the first excepted; a single batch may decompress to no more
    than `max_bytes`.
    """
    assert 0 < max_bytes <= COLUMN_BYTES_MAX, "offsets into columns are int32"
    total = min(wanted.total_bytes_max, max_bytes)
    fetched = FetchedBatches(data, selection, limit_bytes=max_bytes, total_bytes_max=total)
    runs = list(fetched)
    row_count_max = sum(run.row_count_max for run in runs)
    outputs = _Outputs(wanted, allocate, row_count_max, sum(run.size for run in runs))
    outputs.fill(runs, fetched.cursor(checks_crc=selection.check_crc))
    if wanted.headers:
        outputs.fill_headers(runs, fetched.cursor(checks_crc=False))
    return outputs.columns(fetched)


class _Binary:
    """A binary column being filled, and the memory it is filled into: `data_size` bytes first."""

    def __init__(
        self, allocate: Allocate, row_count_max: int, *, data_size: int, data_size_max: int
    ) -> None:
        self.offsets = memory(allocate, 4 * (row_count_max + 1), "i")
        self.validity = memory(allocate, (row_count_max + 7) // 8, "B")
        self.output = kernel.BinaryOutput(
            self.offsets,
            self.validity,
            memory(allocate, data_size, "B"),
            partial(memory, allocate, data_size_max, "B"),
        )

    def column(self) -> BinaryColumn:
        rows, nulls = self.output.rows, self.output.null_count
        return BinaryColumn(
            offsets=self.offsets[: rows + 1],
            data=self.output.data_view[: self.output.data_size],
            validity=self.validity[: (rows + 7) // 8] if nulls else None,
            null_count=nulls,
        )


class _Outputs:
    """The columns being filled.

    Room is made for the most that the batches can hold, but for keys, which are mostly null or
    short: to ask for much memory makes the process give it back and ask again with each fetch.
    Headers are rare: their room is only known, and made, after the other columns.
    """

    def __init__(
        self, wanted: WantedColumns, allocate: Allocate, row_count_max: int, size_max: int
    ) -> None:
        self._allocate = allocate
        self._offsets = memory(allocate, 8 * row_count_max, "q")
        self._timestamps = memory(allocate, 8 * row_count_max, "q")
        self._types = memory(allocate, row_count_max, "b")
        self._keys = self._values = None
        if wanted.keys:
            likely_size = size_max // _KEYS_PART
            self._keys = _Binary(
                allocate, row_count_max, data_size=likely_size, data_size_max=size_max
            )
        if wanted.values:
            self._values = _Binary(
                allocate, row_count_max, data_size=size_max, data_size_max=size_max
            )
        self._rows = kernel.RowsOutput(
            self._offsets,
            self._timestamps,
            self._types,
            self._keys.output if self._keys else None,
            self._values.output if self._values else None,
        )
        self._headers: HeadersColumn | None = None

    def fill(self, runs: "list[BatchRun]", cursor: "RecordCursor") -> None:
        for run in runs:
            cursor.enter(run)
            self._rows.append(cursor)

    def fill_headers(self, runs: "list[BatchRun]", cursor: "RecordCursor") -> None:
        rows, count, size = self._rows.rows, self._rows.header_count, self._rows.header_bytes
        offsets = memory(self._allocate, 4 * (rows + 1), "i")
        keys = _Binary(self._allocate, count, data_size=size, data_size_max=size)
        values = _Binary(self._allocate, count, data_size=size, data_size_max=size)
        if count == 0:
            offsets.cast("B")[:] = bytes(offsets.nbytes)
        else:
            output = kernel.HeadersOutput(offsets, keys.output, values.output)
            for run in runs:
                cursor.enter(run)
                output.append(cursor)
        self._headers = HeadersColumn(offsets, keys.column(), values.column())

    def columns(self, fetched: FetchedBatches) -> Columns:
        rows = self._rows.rows
        return Columns(
            row_count=rows,
            offsets=self._offsets[:rows],
            timestamps=self._timestamps[:rows],
            timestamp_types=self._types[:rows],
            keys=self._keys.column() if self._keys else None,
            values=self._values.column() if self._values else None,
            headers=self._headers,
            next_offset=fetched.next_offset,
            position=fetched.position,
            stop=fetched.stop,
            selection_left=fetched.selection_left,
        )


def memory(allocate: Allocate, size: int, item_format: Literal["b", "B", "i", "q"]) -> memoryview:
    """A view of exactly `size` bytes as items of the format."""
    return memoryview(allocate(size)).cast("B")[:size].cast(item_format)
