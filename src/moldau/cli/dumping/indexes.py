"""The files beside a segment as lines, checked against it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from moldau.errors import ProtocolError
from moldau.log import producer_snapshot
from moldau.log.index import OffsetIndex
from moldau.log.time_index import TimeIndex
from moldau.log.transaction_index import TransactionIndex
from moldau.model import NO_TIMESTAMP
from moldau.records.batch import BatchHeader, iterate_headers


@dataclass(slots=True)
class Faults:
    """What an index says that is not so."""

    mismatches: list[tuple[int, int]] = field(default_factory=list)
    wrong_timestamps: list[tuple[int, int]] = field(default_factory=list)
    falling_timestamps: list[tuple[int, int]] = field(default_factory=list)
    missing_offsets: list[tuple[int, int]] = field(default_factory=list)

    def lines(self, path: str) -> Iterator[str]:
        """What Apache's tool says of such."""
        if self.mismatches:
            yield f"Mismatches in :{path}"
            for index_offset, log_offset in self.mismatches:
                yield f"  Index offset: {index_offset}, log offset: {log_offset}"
        if self.wrong_timestamps:
            yield f"Found timestamp mismatch in :{path}"
            for index_time, log_time in self.wrong_timestamps:
                yield f"  Index timestamp: {index_time}, log timestamp: {log_time}"
        if self.falling_timestamps:
            yield f"Found out of order timestamp in :{path}"
            for index_time, before in self.falling_timestamps:
                yield f"  Index timestamp: {index_time}, Previously indexed timestamp: {before}"
        if self.missing_offsets:
            yield "The following indexed offsets are not found in the log."
            for index_offset, log_offset in self.missing_offsets:
                yield f"Indexed offset: {index_offset}, found log offset: {log_offset}"


def index_lines(index: OffsetIndex, segment: memoryview, faults: Faults) -> Iterator[str]:
    """Every entry of an offset index; each must name the last offset of a batch."""
    for number in range(len(index)):
        offset, position = index.entry(number)
        try:
            last_offset = BatchHeader.read(segment, position).last_offset
        except ProtocolError:
            last_offset = -1
        if last_offset != offset:
            faults.mismatches.append((offset, last_offset))
        yield f"offset: {offset} position: {position}"


def time_index_lines(
    times: TimeIndex, index: OffsetIndex, segment: memoryview, faults: Faults
) -> Iterator[str]:
    """Every entry of a time index; each must be the largest time of the batch it names."""
    before = NO_TIMESTAMP
    for number in range(len(times)):
        timestamp, offset = times.entry(number)
        start = index.position_of(offset)
        header = next(
            (each for _, each in iterate_headers(segment, start) if each.last_offset >= offset),
            None,
        )
        if header is None or header.base_offset > offset:
            faults.missing_offsets.append((offset, -1 if header is None else header.base_offset))
        elif header.max_timestamp != timestamp:
            faults.wrong_timestamps.append((timestamp, header.max_timestamp))
        if before >= timestamp:
            faults.falling_timestamps.append((timestamp, before))
        before = timestamp
        yield f"timestamp: {timestamp} offset: {offset}"


def transaction_index_lines(data: bytes, base_offset: int) -> Iterator[str]:
    """Every aborted transaction."""
    index = TransactionIndex(base_offset, data)
    for number in range(len(index)):
        entry = index.entry(number)
        yield (
            f"version: 0 producerId: {entry.producer_id} firstOffset: {entry.first_offset} "
            f"lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
        )


def snapshot_lines(data: bytes) -> Iterator[str]:
    """Every producer of a snapshot."""
    for producer in producer_snapshot.decode(data):
        first = producer.transaction_first_offset
        open_since = ".empty" if first is None else f"[{first}]"
        line = (
            f"producerId: {producer.producer_id} producerEpoch: {producer.epoch} "
            f"coordinatorEpoch: {producer.coordinator_epoch} "
            f"currentTxnFirstOffset: OptionalLong{open_since} "
            f"lastTimestamp: {producer.last_timestamp} "
        )
        for batch in list(producer.batches)[:1]:
            line += (
                f"firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence} "
                f"lastOffset: {batch.last_offset} "
                f"offsetDelta: {batch.offset_delta} "
                f"timestamp: {batch.timestamp}"
            )
        yield line
