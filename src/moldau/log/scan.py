"""Walking the batches of a segment's file."""

from collections.abc import Iterator

from moldau.errors import ProtocolError
from moldau.records.batch import RECORDS_POSITION, BatchHeader
from moldau.runtime.disk import File

# Sparse index entries are about 4 KiB apart, so one read usually finds a batch.
_HEADERS_CHUNK_SIZE = 8 * 1024
_BATCHES_CHUNK_SIZE = 1024 * 1024


def headers(file: File, start: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of each batch in `[start, end)`, skipping over the records.

    Raises ProtocolError where the file does not hold a batch.
    """
    position = start
    chunk, chunk_start = b"", start
    while position < end:
        if position + RECORDS_POSITION > chunk_start + len(chunk):
            chunk, chunk_start = file.read(position, _HEADERS_CHUNK_SIZE), position
        header = BatchHeader.read(chunk, position - chunk_start)
        if position + header.size > end:
            raise ProtocolError(f"batch at {position} reaches past the end {end}")
        yield position, header
        position += header.size


def batches(file: File, start: int, end: int) -> Iterator[tuple[int, BatchHeader, memoryview]]:
    """Yield position, header and bytes of each batch in `[start, end)`.

    Raises ProtocolError where the file does not hold a batch; checksums are not looked at.
    """
    position = start
    chunk, chunk_start, chunk_end = memoryview(b""), start, start
    while position < end:
        if position + RECORDS_POSITION > chunk_end:
            wanted = min(_BATCHES_CHUNK_SIZE, end - position)
            chunk, chunk_start = memoryview(file.read(position, wanted)), position
            chunk_end = chunk_start + len(chunk)
        header = BatchHeader.read(chunk, position - chunk_start)
        batch_end = position + header.size
        if batch_end > end:
            raise ProtocolError(f"batch at {position} reaches past the end {end}")
        if batch_end > chunk_end:
            wanted = max(header.size, min(_BATCHES_CHUNK_SIZE, end - position))
            chunk, chunk_start = memoryview(file.read(position, wanted)), position
            chunk_end = chunk_start + len(chunk)
            if batch_end > chunk_end:
                raise ProtocolError(f"batch at {position} is cut off")
        yield position, header, chunk[position - chunk_start : batch_end - chunk_start]
        position = batch_end
