"""What the headers of fetched batches say: times, transactions, and the markers that end them."""

from collections.abc import Iterator
from typing import NamedTuple

from moldau.errors import ProtocolError
from moldau.records.batch import MAGIC, MAGIC_POSITION, RECORDS_POSITION, BatchHeader
from moldau.records.control import read_end_marker


class Marker(NamedTuple):
    """The end of a transaction in a partition."""

    offset: int
    timestamp_ms: int
    is_commit: bool


def headers_of(data: memoryview) -> Iterator[tuple[int, BatchHeader]]:
    """Complete batches and where they begin; ends before what is not sound."""
    position = 0
    while position + RECORDS_POSITION <= len(data) and data[position + MAGIC_POSITION] == MAGIC:
        try:
            header = BatchHeader.read(data, position)
        except ProtocolError:
            return
        if position + header.size > len(data):
            return
        yield position, header
        position += header.size


def within_times(
    data: memoryview, from_ms: int | None, to_ms: int | None
) -> tuple[memoryview, int]:
    """The batches that may have records of these times, and how many were left out.

    A header has the latest time of its records, but not the earliest: a later record may be
    older. Only where the broker sets the time do all have the same. Markers stay: they show
    which transactions have ended.
    """
    left: list[memoryview] = []
    begin = end = count = 0
    for position, header in headers_of(data):
        end = position + header.size
        if header.is_control or not _is_outside(header, from_ms, to_ms):
            continue
        left.append(data[begin:position])
        begin = end
        count += 1
    if not count:
        return data, 0
    return memoryview(b"".join([*left, data[begin:]])), count


def _is_outside(header: BatchHeader, from_ms: int | None, to_ms: int | None) -> bool:
    if from_ms is not None and header.max_timestamp < from_ms:
        return True
    is_one_time = header.is_log_append_time or header.record_count == 1
    return to_ms is not None and is_one_time and header.max_timestamp >= to_ms


def transactional_ranges(data: memoryview) -> list[range]:
    """Offsets of batches that belong to transactions."""
    return [
        range(header.base_offset, header.last_offset + 1)
        for _, header in headers_of(data)
        if header.is_transactional and not header.is_control
    ]


def markers(data: memoryview, offsets: range) -> list[Marker]:
    """The markers within these offsets."""
    found = []
    for position, header in headers_of(data):
        if header.is_control and header.base_offset in offsets:
            end = read_end_marker(data, position)
            if end is not None:
                found.append(Marker(header.base_offset, header.max_timestamp, end.is_commit))
    return found
