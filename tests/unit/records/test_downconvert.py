"""Down-conversion for clients that know only older formats."""

import tracemalloc

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import (
    LOG_APPEND_TIME,
    stamp,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.downconvert import Allowance, down_convert, magic_for_fetch
from moldau.records.entries import iterate_entries
from moldau.records.legacy import read_message, unwrap, write_message_set
from moldau.records.record import Record

LIMIT = 1 << 20
RECORDS = [
    Record(10, 1000, b"a", b"1", ((b"h", b"x"),)),
    Record(11, 1001, None, b"2"),
    Record(14, 1002, b"c", None),
]
OLD_CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4]


def convert(data: bytes | bytearray, *, to_magic: int, start_offset: int = 0) -> list[Record]:
    converted = down_convert(data, to_magic=to_magic, start_offset=start_offset, limit_bytes=LIMIT)
    records: list[Record] = []
    for position, size, magic in iterate_entries(converted):
        assert magic <= to_magic
        message = read_message(converted[position : position + size])
        records += unwrap(message, limit_bytes=LIMIT)
    return records


def plain(records: list[Record], *, magic: int) -> list[Record]:
    return [
        Record(each.offset, each.timestamp if magic else -1, each.key, each.value)
        for each in records
    ]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, *OLD_CODECS])
def test_records_keep_offsets_and_lose_headers(magic: int, codec: Codec) -> None:
    data = write_batch(RECORDS, base_offset=10, attributes=codec)
    assert convert(data, to_magic=magic) == plain(RECORDS, magic=magic)


def test_compression_is_kept() -> None:
    data = write_batch(RECORDS, base_offset=10, attributes=Codec.SNAPPY)
    converted = down_convert(data, to_magic=1, start_offset=0, limit_bytes=LIMIT)
    assert read_message(converted).codec is Codec.SNAPPY
    assert len(list(iterate_entries(converted))) == 1


@pytest.mark.parametrize("magic", [0, 1])
def test_uncompressed_records_below_the_fetch_offset_are_dropped(magic: int) -> None:
    data = write_batch(RECORDS, base_offset=10)
    assert convert(data, to_magic=magic, start_offset=11) == plain(RECORDS[1:], magic=magic)
    assert convert(data, to_magic=magic, start_offset=15) == []


def test_compressed_records_below_the_fetch_offset_stay() -> None:
    data = write_batch(RECORDS, base_offset=10, attributes=Codec.GZIP)
    assert convert(data, to_magic=1, start_offset=14) == plain(RECORDS, magic=1)


def test_control_batches_are_dropped() -> None:
    marker = write_end_marker(EndMarker(True, 0), producer_id=1, producer_epoch=0, timestamp_ms=1)
    stamp(marker, 0, base_offset=15, leader_epoch=0)
    data = write_batch(RECORDS, base_offset=10) + marker + write_batch([RECORDS[0]], base_offset=10)
    assert len(convert(data, to_magic=1)) == 4


def test_zstd_cannot_be_converted() -> None:
    data = write_batch(RECORDS, base_offset=10, attributes=Codec.ZSTD)
    with pytest.raises(KafkaError) as caught:
        convert(data, to_magic=1)
    assert caught.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_log_append_time_is_kept(codec: Codec) -> None:
    data = write_batch(RECORDS, base_offset=10, attributes=codec | LOG_APPEND_TIME)
    assert {record.timestamp for record in convert(data, to_magic=1)} == {1002}
    converted = down_convert(data, to_magic=1, start_offset=0, limit_bytes=LIMIT)
    first = next(iterate_entries(converted))
    assert read_message(converted[: first.size]).is_log_append_time


def test_old_messages_pass_as_they_are() -> None:
    old = write_message_set(RECORDS, magic=1, codec=Codec.GZIP)
    data = old + write_batch(RECORDS, base_offset=10)
    assert down_convert(data, to_magic=1, start_offset=0, limit_bytes=LIMIT).startswith(old)


@pytest.mark.parametrize("codec", [Codec.NONE, *OLD_CODECS])
def test_messages_of_magic_1_become_magic_0(codec: Codec) -> None:
    old = write_message_set(RECORDS, magic=1, codec=codec)
    assert convert(old, to_magic=0) == plain(RECORDS, magic=0)


def test_a_partial_batch_at_the_end_is_left_out() -> None:
    data = write_batch(RECORDS, base_offset=10)
    assert convert(data + data[:-1], to_magic=1) == plain(RECORDS, magic=1)


def test_the_fetch_version_decides_the_format() -> None:
    assert [magic_for_fetch(version) for version in range(6)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("codec", [Codec.NONE, *OLD_CODECS])
def test_no_more_is_unpacked_than_is_allowed_except_for_the_first_batch(codec: Codec) -> None:
    rows = [Record(0, 1000, None, bytes(1000))]
    data = b"".join(
        bytes(write_batch(rows, base_offset=offset, attributes=codec)) for offset in range(5)
    )

    def count(allowance: Allowance) -> int:
        converted = down_convert(
            data, to_magic=1, start_offset=0, limit_bytes=LIMIT, allowance=allowance
        )
        return len(list(iterate_entries(converted)))

    allowance = Allowance(1_500)
    assert count(allowance) == 2
    assert allowance.remaining < 0
    assert count(allowance) == 1
    assert count(Allowance(10_000)) == 5


def test_records_are_not_all_in_memory_at_once() -> None:
    rows = [Record(number, 1000, None, b"") for number in range(50_000)]
    data = bytes(write_batch(rows, attributes=Codec.GZIP))
    tracemalloc.start()
    try:
        down_convert(data, to_magic=1, start_offset=0, limit_bytes=LIMIT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000, "the messages have 1.7 MB, as objects they would have ten"
