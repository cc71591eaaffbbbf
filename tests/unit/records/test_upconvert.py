"""Up-conversion of message sets."""

import pytest

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_TIMESTAMP
from moldau.records.batch import BatchHeader, crc_is_valid, read_records, write_batch
from moldau.records.compression import Codec
from moldau.records.entries import iterate_entries
from moldau.records.legacy import Message, write_message, write_message_set
from moldau.records.record import Record
from moldau.records.rules import ProduceRules
from moldau.records.upconvert import up_convert

NOW = 1_700_000_000_000
LIMIT = 1 << 20
RECORDS = [
    Record(10, NOW - 3, b"a", b"1"),
    Record(11, NOW, None, b"2"),
    Record(15, NOW - 1, b"c", None),
]
RENUMBERED = [record._replace(offset=index) for index, record in enumerate(RECORDS)]
OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]


def convert(data: bytes, rules: ProduceRules | None = None) -> bytearray:
    entries = list(iterate_entries(data))
    return up_convert(data, entries, rules or ProduceRules(), now_ms=NOW)


def refused(data: bytes, rules: ProduceRules | None = None) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        convert(data, rules)
    return caught.value.code


def read(data: bytearray) -> list[Record]:
    return list(read_records(data, limit_bytes=LIMIT))


@pytest.mark.parametrize("codec", OLD_CODECS)
def test_magic_1_becomes_a_batch_of_the_same_codec(codec: Codec) -> None:
    data = convert(write_message_set(RECORDS, magic=1, codec=codec))
    header = BatchHeader.read(data)
    assert header.codec is codec
    assert (header.base_offset, header.record_count, header.max_timestamp) == (0, 3, NOW)
    assert crc_is_valid(data, 0, header.size)
    assert read(data) == RENUMBERED


@pytest.mark.parametrize("codec", OLD_CODECS)
def test_magic_0_has_no_timestamps(codec: Codec) -> None:
    data = convert(write_message_set(RECORDS, magic=0, codec=codec))
    assert read(data) == [record._replace(timestamp=-1) for record in RENUMBERED]
    assert BatchHeader.read(data).max_timestamp == -1


@pytest.mark.parametrize("magic", [0, 1])
def test_log_append_time_is_given_to_all(magic: int) -> None:
    rules = ProduceRules(is_log_append_time=True)
    data = convert(write_message_set(RECORDS, magic=magic, codec=Codec.GZIP), rules)
    header = BatchHeader.read(data)
    assert header.is_log_append_time
    assert header.base_timestamp == (RECORDS[0].timestamp if magic else NO_TIMESTAMP)
    assert crc_is_valid(data, 0, header.size)
    assert {record.timestamp for record in read(data)} == {NOW}


def test_the_topic_may_choose_the_codec() -> None:
    data = convert(
        write_message_set(RECORDS, magic=1, codec=Codec.GZIP), ProduceRules(codec=Codec.ZSTD)
    )
    assert BatchHeader.read(data).codec is Codec.ZSTD
    assert read(data) == RENUMBERED


def test_a_compressed_set_stands_alone() -> None:
    wrapper = write_message_set(RECORDS, magic=1, codec=Codec.GZIP)
    plain = write_message_set(RECORDS, magic=1, codec=Codec.NONE)
    for data in (wrapper * 2, wrapper + plain, plain + wrapper):
        assert refused(data) == ErrorCode.INVALID_RECORD


def test_one_set_has_one_magic() -> None:
    sets = [write_message_set(RECORDS, magic=magic, codec=Codec.NONE) for magic in (0, 1)]
    assert refused(b"".join(sets)) == ErrorCode.INVALID_RECORD
    assert refused(sets[0] + bytes(write_batch(RENUMBERED))) == ErrorCode.INVALID_RECORD


def test_a_wrong_checksum_is_corrupt() -> None:
    data = bytearray(write_message_set(RECORDS, magic=1, codec=Codec.NONE))
    data[-1] ^= 1
    assert refused(bytes(data)) == ErrorCode.CORRUPT_MESSAGE


def test_a_message_above_the_limit_is_too_large() -> None:
    data = write_message_set(RECORDS, magic=1, codec=Codec.GZIP)
    assert refused(data, ProduceRules(max_message_bytes=len(data) - 1)) == (
        ErrorCode.MESSAGE_TOO_LARGE
    )


def test_a_compacted_topic_needs_keys() -> None:
    data = write_message_set(RECORDS, magic=1, codec=Codec.GZIP)
    assert refused(data, ProduceRules(is_compacted=True)) == ErrorCode.INVALID_RECORD


def test_timestamps_are_checked() -> None:
    data = write_message_set(RECORDS, magic=1, codec=Codec.NONE)
    rules = ProduceRules(timestamp_before_max_ms=2)
    assert refused(data, rules) == ErrorCode.INVALID_TIMESTAMP
    old = write_message_set(RECORDS, magic=0, codec=Codec.NONE)
    assert len(read(convert(old, rules))) == 3


def test_log_append_time_may_not_be_claimed() -> None:
    data = write_message_set(RECORDS, magic=1, codec=Codec.GZIP, is_log_append_time=True)
    rules = ProduceRules(is_log_append_time=True)
    assert refused(data, rules) == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [4, 5, 7])
def test_a_codec_that_messages_do_not_have_is_refused(codec: int) -> None:
    with pytest.raises(ProtocolError):
        convert(write_message(Message(0, 1, codec, 0, None, b"x")))
