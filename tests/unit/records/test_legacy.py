"""Messages of magic 0 and 1."""

import zlib

import pytest
from aiokafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.records import lz4
from moldau.records.compression import Codec, compress
from moldau.records.entries import iterate_entries
from moldau.records.legacy import Message, read_message, unwrap, write_message, write_message_set
from moldau.records.record import Record

LIMIT = 1 << 20
CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
RECORDS = [
    Record(10, 1000, b"a", b"first"),
    Record(11, 999, None, b"second"),
    Record(15, 1005, b"c", None),
]


def read_set(data: bytes) -> list[Record]:
    return [
        record
        for entry in iterate_entries(data)
        for record in unwrap(
            read_message(data[entry.position : entry.position + entry.size]), limit_bytes=LIMIT
        )
    ]


def without_timestamps(records: list[Record]) -> list[Record]:
    return [record._replace(timestamp=-1) for record in records]


def test_a_message_of_magic_0_has_the_documented_bytes() -> None:
    data = write_message(Message(5, 0, 0, -1, b"k", None))
    checked = bytes.fromhex("00 00 00000001 6b ffffffff")
    assert data[16:] == checked
    assert data[:12] == bytes.fromhex("0000000000000005 0000000f")
    assert int.from_bytes(data[12:16], "big") == zlib.crc32(checked)


def test_a_message_of_magic_1_has_the_documented_bytes() -> None:
    data = write_message(Message(5, 1, 0, 258, None, b"v"))
    assert data[16:] == bytes.fromhex("01 00 0000000000000102 ffffffff 00000001 76")


@pytest.mark.parametrize("codec", CODECS)
def test_a_set_of_magic_1_is_read_back_with_its_gaps(codec: Codec) -> None:
    assert read_set(write_message_set(RECORDS, magic=1, codec=codec)) == RECORDS


@pytest.mark.parametrize("codec", CODECS)
def test_a_set_of_magic_0_has_no_timestamps(codec: Codec) -> None:
    data = write_message_set(RECORDS, magic=0, codec=codec)
    assert read_set(data) == without_timestamps(RECORDS)


@pytest.mark.parametrize(("magic", "first"), [(0, 10), (1, 0)])
def test_offsets_inside_are_relative_only_with_magic_1(magic: int, first: int) -> None:
    wrapper = read_message(write_message_set(RECORDS, magic=magic, codec=Codec.GZIP))
    assert wrapper.offset == 15
    assert wrapper.value is not None
    inner = zlib.decompress(wrapper.value, 31)
    assert int.from_bytes(inner[:8], "big") == first


def test_a_wrapper_of_magic_1_has_the_largest_timestamp() -> None:
    assert read_message(write_message_set(RECORDS, magic=1, codec=Codec.GZIP)).timestamp == 1005


def test_a_wrapper_with_offset_0_has_absolute_offsets_inside() -> None:
    wrapper = read_message(write_message_set(RECORDS, magic=1, codec=Codec.GZIP))
    offsets = [record.offset for record in unwrap(wrapper._replace(offset=0), limit_bytes=LIMIT)]
    assert offsets == [0, 1, 5]


def test_log_append_time_of_the_wrapper_counts_for_all() -> None:
    data = write_message_set(RECORDS, magic=1, codec=Codec.GZIP, is_log_append_time=True)
    wrapper = read_message(data)
    assert wrapper.is_log_append_time
    assert {record.timestamp for record in unwrap(wrapper, limit_bytes=LIMIT)} == {1005}


def test_magic_0_has_no_log_append_time() -> None:
    data = write_message_set(RECORDS, magic=0, codec=Codec.NONE, is_log_append_time=True)
    assert all(not data[entry.position + 17] for entry in iterate_entries(data))


def test_lz4_of_magic_0_has_the_old_header_checksum() -> None:
    old = read_message(write_message_set(RECORDS, magic=0, codec=Codec.LZ4)).value
    new = read_message(write_message_set(RECORDS, magic=1, codec=Codec.LZ4)).value
    assert old is not None
    assert new is not None
    assert (old[6], new[6]) == (0x1A, 0x82)
    with pytest.raises(ProtocolError):
        lz4.decompress(old, limit_bytes=LIMIT)


def test_lz4_of_magic_0_may_have_the_right_header_checksum() -> None:
    inner = write_message_set(RECORDS, magic=0, codec=Codec.NONE)
    wrapper = Message(15, 0, Codec.LZ4, -1, None, lz4.compress(inner))
    assert unwrap(wrapper, limit_bytes=LIMIT) == without_timestamps(RECORDS)


@pytest.mark.parametrize("position", range(12, 40))
def test_a_flipped_bit_is_corrupt(position: int) -> None:
    data = bytearray(write_message(Message(5, 1, 0, 258, b"key", b"value")))
    data[position] ^= 1
    with pytest.raises(KafkaError) as caught:
        read_message(data)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def wrap(value: bytes | None, *, magic: int = 1, codec: int = Codec.GZIP) -> Message:
    return Message(9, magic, codec, 0, None, value)


def gzip(*messages: Message) -> bytes:
    return bytes(compress(Codec.GZIP, b"".join(write_message(message) for message in messages)))


@pytest.mark.parametrize(
    "wrapper",
    [
        wrap(None),
        wrap(b"garbage"),
        wrap(gzip()),
        wrap(gzip(Message(0, 1, Codec.GZIP, 0, None, b""))),
        wrap(gzip(Message(0, 0, 0, -1, None, b""))),
        wrap(gzip(Message(10, 1, 0, 0, None, b""))),
        wrap(gzip(Message(0, 1, 0, 0, None, b"")), codec=Codec.ZSTD),
        wrap(gzip(Message(0, 1, 0, 0, None, b"")), codec=7),
    ],
    ids=["null", "garbage", "empty", "nested", "other magic", "offset", "zstd", "codec 7"],
)
def test_a_malformed_wrapper_is_refused(wrapper: Message) -> None:
    with pytest.raises(ProtocolError):
        unwrap(wrapper, limit_bytes=LIMIT)


def test_a_corrupt_message_inside_is_corrupt() -> None:
    inner = bytearray(write_message(Message(0, 1, 0, 0, None, b"value")))
    inner[-1] ^= 1
    with pytest.raises(KafkaError) as caught:
        unwrap(wrap(bytes(compress(Codec.GZIP, inner))), limit_bytes=LIMIT)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_a_set_that_is_too_large_inside_is_refused() -> None:
    wrapper = wrap(gzip(Message(0, 1, 0, 0, None, bytes(5000))))
    with pytest.raises(ProtocolError):
        unwrap(wrapper, limit_bytes=5000)


@pytest.mark.parametrize(
    "rest",
    [
        "00",  # cut off in the fields of fixed size
        "00 ffffffff",  # without a value
        "00 ffffffff 00000001",  # a value beyond the end
        "00 fffffffe ffffffff",  # a key of -2 bytes
        "00 ffffffff ffffffff 00",  # a byte after the value
    ],
)
def test_a_malformed_message_is_refused(rest: str) -> None:
    with pytest.raises(ProtocolError):
        read_message(with_checksum(b"\x00" + bytes.fromhex(rest)))
    with pytest.raises(ProtocolError):
        read_message(with_checksum(b"\x01"))


def with_checksum(checked: bytes) -> bytes:
    size = (len(checked) + 4).to_bytes(4, "big")
    return bytes(8) + size + zlib.crc32(checked).to_bytes(4, "big") + checked


@given(st.binary(max_size=40), st.sampled_from([0, 1]))
def test_any_bytes_with_a_right_checksum_are_a_message_or_refused(rest: bytes, magic: int) -> None:
    entry = with_checksum(bytes((magic,)) + rest)
    try:
        message = read_message(entry)
    except ProtocolError:
        return
    assert write_message(message) == entry


# It does not have the old LZ4 of magic 0.
known_to_aiokafka = pytest.mark.parametrize(
    ("magic", "codec"), [(0, codec) for codec in CODECS[:3]] + [(1, codec) for codec in CODECS]
)


@known_to_aiokafka
def test_aiokafka_reads_our_sets(magic: int, codec: Codec) -> None:
    data = write_message_set(RECORDS, magic=magic, codec=codec)
    entries = [data[e.position : e.position + e.size] for e in iterate_entries(data)]
    rows = [row for entry in entries for row in LegacyRecordBatch(entry, magic)]
    assert [(row.offset, row.key, row.value) for row in rows] == [
        (record.offset, record.key, record.value) for record in RECORDS
    ]
    assert all(LegacyRecordBatch(entry, magic).validate_crc() for entry in entries)


@known_to_aiokafka
def test_we_read_the_sets_of_aiokafka(magic: int, codec: Codec) -> None:
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=1 << 16)
    rows = [Record(offset, 1000 + offset, b"key", b"value" * 50) for offset in range(20)]
    for row in rows:
        builder.append(row.offset, timestamp=row.timestamp, key=row.key, value=row.value)
    expected = rows if magic == 1 else without_timestamps(rows)
    assert read_set(bytes(builder.build())) == expected
