"""Fetched records one by one, for readers that take rows rather than columns."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from moldau.model import TopicPartition
from moldau.records.buffers import ReadableBuffer
from moldau.records.fetched import FetchedBatches, Selection, kernel

if TYPE_CHECKING:
    from moldau.records.kernel import RecordReader, Row, RowReader

Deserializers = tuple[Callable[[bytes], object] | None, Callable[[bytes], object] | None]
"""What becomes of the bytes of keys and of values; None leaves them as they are."""

EVERYTHING = Selection()
DEFAULT_LIMIT_BYTES = 256 << 20


class Rows:
    """Iterates over the wanted records of a fetch response.

    `fetched` says how far it came: where to fetch next, and why it stopped. One batch may
    decompress to `limit_bytes`.
    """

    def __init__(
        self,
        data: ReadableBuffer,
        selection: Selection = EVERYTHING,
        *,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
    ) -> None:
        self.fetched = FetchedBatches(data, selection, limit_bytes=limit_bytes)
        self._cursor = self.fetched.cursor(checks_crc=selection.check_crc)

    def __iter__(self) -> "Iterator[Row]":
        rows: RowReader = kernel.RowReader(self._cursor, iter(self.fetched))
        return rows


def read_rows(
    data: ReadableBuffer,
    selection: Selection,
    partition: TopicPartition,
    deserializers: Deserializers = (None, None),
) -> "RecordReader":
    """A reader of the wanted records, as consumers hand them out."""
    fetched = FetchedBatches(data, selection, limit_bytes=DEFAULT_LIMIT_BYTES)
    cursor = fetched.cursor(checks_crc=selection.check_crc)
    reader: RecordReader = kernel.RecordReader(cursor, iter(fetched), partition, *deserializers)
    return reader
