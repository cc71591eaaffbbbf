"""Messages of older formats, to batches and back."""

import pytest

from moldau.client.older_records import as_batches, for_version
from moldau.errors import UnsupportedVersion
from moldau.records import legacy
from moldau.records.batch import write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record
from moldau.records.rows import Rows

RECORDS = [Record(offset, 1000 + offset, b"k", b"%d" % offset) for offset in (3, 4, 7)]


def rows(data: memoryview) -> list[tuple[int, int, bytes | None, bytes | None]]:
    return [(row.offset, row.timestamp, row.key, row.value) for row in Rows(data)]


EXPECTED = [(record.offset, record.timestamp, record.key, record.value) for record in RECORDS]


def message_set(magic: int, codec: Codec = Codec.NONE) -> bytes:
    return bytes(legacy.write_message_set(RECORDS, magic=magic, codec=codec))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_messages_become_batches_with_the_same_offsets(codec: Codec) -> None:
    assert rows(as_batches(memoryview(message_set(1, codec)))) == EXPECTED


def test_messages_of_the_first_format_have_no_time() -> None:
    found = rows(as_batches(memoryview(message_set(0))))
    assert [(offset, timestamp) for offset, timestamp, _, _ in found] == [(3, -1), (4, -1), (7, -1)]


def test_batches_stay_as_they_are_also_between_messages() -> None:
    batch = bytes(write_batch([Record(8, 5, None, b"8")], base_offset=8))
    assert bytes(as_batches(memoryview(batch))) == batch
    mixed = (
        message_set(1)
        + batch
        + bytes(legacy.write_message_set([Record(9, 6, None, b"9")], magic=1, codec=Codec.NONE))
    )
    assert rows(as_batches(memoryview(mixed))) == [
        *EXPECTED,
        (8, 5, None, b"8"),
        (9, 6, None, b"9"),
    ]


def test_a_batch_is_sent_as_the_broker_knows_it() -> None:
    batch = memoryview(write_batch([Record(0, 5, b"k", b"v"), Record(1, 6, None, None)]))
    assert for_version(batch, 3) is batch
    messages = for_version(batch, 2)
    assert rows(as_batches(messages)) == [(0, 5, b"k", b"v"), (1, 6, None, None)]


def test_headers_are_not_lost_without_a_word() -> None:
    batch = memoryview(write_batch([Record(0, 5, None, b"v", ((b"h", b"1"),))]))
    with pytest.raises(UnsupportedVersion, match="headers with it not supported"):
        for_version(batch, 2)
