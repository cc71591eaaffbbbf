"""The files beside a segment as lines, checked against it."""

from moldau.cli.dumping.indexes import (
    Faults,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from moldau.log.index import OffsetIndex
from moldau.log.producer_snapshot import encode
from moldau.log.producer_state import KeptBatch, ProducerEntry
from moldau.log.time_index import TimeIndex
from moldau.log.transaction_index import ENTRY
from unit.cli.dumping.test_segment import batch

FIRST = batch(0, b"a", b"b")
SEGMENT = memoryview(bytes(FIRST + batch(2, b"c")))


def offset_index(*entries: tuple[int, int]) -> OffsetIndex:
    index = OffsetIndex(0)
    for offset, position in entries:
        index.append(offset, position)
    return index


def test_an_offset_index_is_compared_with_its_log() -> None:
    faults = Faults()
    lines = list(index_lines(offset_index((2, len(FIRST))), SEGMENT, faults))
    assert lines == [f"offset: 2 position: {len(FIRST)}"]
    assert list(faults.lines("f")) == []
    list(index_lines(offset_index((5, len(FIRST)), (7, 10_000)), SEGMENT, faults))
    assert list(faults.lines("f")) == [
        "Mismatches in :f",
        "  Index offset: 5, log offset: 2",
        "  Index offset: 7, log offset: -1",
    ]


def test_a_time_index_is_compared_with_its_log() -> None:
    times = TimeIndex(0)
    for timestamp, offset in ((1700, 1), (1800, 2), (1900, 9)):
        times.append(timestamp, offset)
    faults = Faults()
    lines = list(time_index_lines(times, offset_index(), SEGMENT, faults))
    assert lines[0] == "timestamp: 1700 offset: 1"
    assert list(faults.lines("f")) == [
        "Found timestamp mismatch in :f",
        "  Index timestamp: 1800, log timestamp: 1700",
        "The following indexed offsets are not found in the log.",
        "Indexed offset: 9, found log offset: -1",
    ]


def test_times_that_fall_are_told() -> None:
    faults = Faults(falling_timestamps=[(5, 6)])
    assert list(faults.lines("f")) == [
        "Found out of order timestamp in :f",
        "  Index timestamp: 5, Previously indexed timestamp: 6",
    ]


def test_aborted_transactions_are_listed() -> None:
    data = ENTRY.pack(0, 7, 1, 5, 6)
    assert list(transaction_index_lines(data, 0)) == [
        "version: 0 producerId: 7 firstOffset: 1 lastOffset: 5 lastStableOffset: 6"
    ]


def test_producers_are_listed() -> None:
    producers = [
        ProducerEntry(7, 1, 2, 1700, 3, (KeptBatch(9, 20, 4, 1700),)),
        ProducerEntry(8, 1),
    ]
    first, second = snapshot_lines(encode(producers))
    assert first == (
        "producerId: 7 producerEpoch: 1 coordinatorEpoch: 2 currentTxnFirstOffset: "
        "OptionalLong[3] lastTimestamp: 1700 firstSequence: 5 lastSequence: 9 lastOffset: 20 "
        "offsetDelta: 4 timestamp: 1700"
    )
    assert "currentTxnFirstOffset: OptionalLong.empty" in second
