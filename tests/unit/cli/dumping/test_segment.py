"""The batches and records of a segment's file as lines; Apache's are compared in conformance."""

from moldau.cli.dumping.segment import SegmentDump, View
from moldau.records.batch import Producer, stamp, write_batch
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.record import Record


def batch(base_offset: int, *values: bytes) -> bytearray:
    records = [
        Record(number, 1_700, b"k", value, ((b"h", None),)) for number, value in enumerate(values)
    ]
    written = write_batch(records, producer=Producer(7, 1, 2**31 - 1))
    stamp(written, 0, base_offset=base_offset, leader_epoch=4)
    return written


def dumped(data: bytes | bytearray, view: View) -> tuple[list[str], SegmentDump]:
    dump = SegmentDump(memoryview(data), view)
    return list(dump.lines()), dump


def test_a_batch_is_one_line_and_its_records_follow() -> None:
    lines, dump = dumped(batch(5, b"a", b"b"), View(is_deep=True, shows_data=True))
    assert lines[0].startswith("baseOffset: 5 lastOffset: 6 count: 2 baseSequence: 2147483647 ")
    assert "partitionLeaderEpoch: 4 " in lines[0]
    assert lines[0].endswith("isvalid: true")
    assert lines[2] == (
        "| offset: 6 CreateTime: 1700 keySize: 1 valueSize: 1 sequence: 0 headerKeys: [h] "
        "key: k payload: b"
    )
    assert (dump.gaps, dump.invalid_bytes) == ([], 0)


def test_less_may_be_shown() -> None:
    lines, _ = dumped(batch(0, b"a"), View(is_deep=True, shows_data=True, shows_metadata=False))
    assert lines[1] == " key: k payload: a"
    lines, _ = dumped(batch(0, b"a"), View(is_deep=True))
    assert lines[1].endswith("headerKeys: [h]")
    lines, dump = dumped(batch(0, b"a") + batch(1, b"b"), View(bytes_max=10))
    assert (len(lines), dump.invalid_bytes) == (1, 0)


def test_markers_say_how_a_transaction_ended() -> None:
    marker = write_end_marker(EndMarker(False, 3), producer_id=7, producer_epoch=1, timestamp_ms=9)
    lines, _ = dumped(marker, View(is_deep=True))
    assert lines[1].endswith("endTxnMarker: ABORT coordinatorEpoch: 3")
    lines, _ = dumped(marker, View(is_deep=True, shows_data=True, shows_metadata=False))
    assert lines[1] == ""


def test_gaps_and_bytes_that_are_no_batch_are_noted() -> None:
    data = batch(0, b"a") + batch(9, b"b")
    data[70] ^= 1
    lines, dump = dumped(data + b"\0" * 70, View(is_deep=False))
    assert lines[0].endswith("isvalid: false")
    assert dump.invalid_bytes == len(batch(0, b"a")) + 70
    _, dump = dumped(batch(0, b"a") + batch(9, b"b"), View(is_deep=True))
    assert dump.gaps == [(0, 9)]
