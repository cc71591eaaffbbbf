"""Messages of magic 0 and 1 as lines; Apache's are compared in conformance."""

import pytest

from moldau.cli.dumping.segment import SegmentDump, View
from moldau.records.compression import Codec
from moldau.records.legacy import write_message_set
from moldau.records.record import Record

RECORDS = [Record(5, 1_700, b"k", b"v"), Record(6, 1_701, None, None)]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_messages_are_shown_with_their_checksums(codec: Codec) -> None:
    data = bytearray(write_message_set(RECORDS, magic=1, codec=codec))
    dump = SegmentDump(memoryview(data), View(is_deep=True, shows_data=True))
    lines = list(dump.lines())
    assert len(lines) == (4 if codec is Codec.NONE else 3)
    assert lines[-1].startswith("| offset: 6 CreateTime: 1701 keySize: -1 valueSize: -1 isValid: ")
    assert "keySize: 1 valueSize: 1 isValid: true crc: " in lines[1]
    assert lines[1].endswith("} key: k payload: v")
    assert (dump.gaps, dump.invalid_bytes) == ([], 0)


def test_a_damaged_message_is_shown_as_such() -> None:
    data = bytearray(write_message_set(RECORDS[:1], magic=0, codec=Codec.NONE))
    data[-1] ^= 1
    dump = SegmentDump(memoryview(data), View(is_deep=True))
    (line,) = dump.lines()
    assert line.startswith("offset: 5 position: 0 NoTimestampType: -1 size: 28 magic: 0 ")
    assert line.endswith("isvalid: false")
    assert dump.invalid_bytes == len(data)
