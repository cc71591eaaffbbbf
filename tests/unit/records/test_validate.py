"""The rules that produced records must pass."""

from collections.abc import Callable

import cramjam
import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.records import batch, lz4
from moldau.records.batch import (
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    assemble_batch,
    crc_is_valid,
    read_records,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.legacy import Message, write_message, write_message_set
from moldau.records.record import Record
from moldau.records.refusal import RecordsRefused
from moldau.records.rules import ProduceRules
from moldau.records.validate import ValidBatch, validate_produce

NOW = 1_700_000_000_000
LIMIT = 1 << 20
RULES = ProduceRules()
RECORDS = [
    Record(0, NOW - 10, b"a", b"first" * 20),
    Record(1, NOW, b"b", b"second" * 20, ((b"h", None),)),
    Record(2, NOW - 5, b"c", None),
]
BATCH = bytes(write_batch(RECORDS))

Change = Callable[[BatchHeader], None]


def validate(
    data: bytes | bytearray | memoryview | None, rules: ProduceRules = RULES, version: int = 9
) -> ValidBatch:
    valid = validate_produce(data, rules, request_version=version, now_ms=NOW)
    assert valid is not None
    return valid


def refused(
    data: bytes | bytearray | memoryview | None, rules: ProduceRules = RULES, version: int = 9
) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        validate(data, rules, version)
    return caught.value.code


def changed(change: Change, data: bytes | bytearray = BATCH) -> bytearray:
    """Change fields of the header and make the checksum right again."""
    header = BatchHeader.read(data)
    change(header)
    return assemble_batch(header, data[batch.RECORDS_POSITION :])


def records_of(valid: ValidBatch) -> list[Record]:
    return list(read_records(valid.data, limit_bytes=LIMIT))


@pytest.mark.parametrize("codec", list(Codec))
def test_a_sound_batch_is_returned_without_a_copy(codec: Codec) -> None:
    data = write_batch(RECORDS, attributes=codec)
    before = bytes(data)
    valid = validate(memoryview(data))
    assert isinstance(valid.data, memoryview)
    assert valid.data.obj is data
    assert data == before
    assert valid.header == BatchHeader.read(before)
    assert (valid.log_append_time_ms, valid.is_rebuilt) == (-1, False)


def test_a_read_only_batch_becomes_writable() -> None:
    valid = validate(BATCH)
    valid.data[0] = 1
    assert bytes(valid.data[1:]) == BATCH[1:]


def test_bytes_of_an_incomplete_entry_after_the_batch_are_cut_off() -> None:
    assert bytes(validate(BATCH + BATCH[:-1]).data) == BATCH
    assert bytes(validate(BATCH + b"\xff").data) == BATCH


def test_producer_and_transaction_are_kept() -> None:
    data = write_batch(RECORDS, attributes=TRANSACTIONAL, producer=Producer(9, 2, 7))
    header = validate(data).header
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 7)


def test_a_wrong_max_timestamp_is_put_right() -> None:
    def forge(header: BatchHeader) -> None:
        header.max_timestamp = 5

    valid = validate(changed(forge))
    assert valid.header.max_timestamp == NOW
    assert bytes(valid.data) == BATCH


def test_records_without_timestamps_have_no_max_timestamp() -> None:
    rules = ProduceRules(timestamp_before_max_ms=1, timestamp_after_max_ms=1)
    data = write_batch([record._replace(timestamp=-1) for record in RECORDS])
    assert validate(data, rules).header.max_timestamp == -1


@pytest.mark.parametrize("version", [0, 2, 3, 9])
def test_null_records_are_invalid(version: int) -> None:
    assert refused(None, version=version) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("size", [0, 1, 11, 12, 17, 60, len(BATCH) - 1])
def test_no_complete_batch_is_invalid(version: int, size: int) -> None:
    assert refused(BATCH[:size], version=version) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("version", [0, 1, 2])
def test_old_requests_may_be_empty(version: int) -> None:
    assert validate_produce(b"", RULES, request_version=version, now_ms=NOW) is None


@pytest.mark.parametrize("version", [2, 3, 9])
def test_several_batches_are_invalid(version: int) -> None:
    assert refused(BATCH * 2, version=version) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_in_new_requests_are_invalid(magic: int) -> None:
    data = write_message_set(RECORDS, magic=magic, codec=Codec.NONE)
    assert refused(data, version=3) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("version", [3, 6])
def test_zstd_needs_version_7(version: int) -> None:
    data = write_batch(RECORDS, attributes=Codec.ZSTD)
    assert refused(data, version=version) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert records_of(validate(data, version=7)) == RECORDS


@pytest.mark.parametrize("magic", [3, 127, 255])
def test_an_unknown_magic_is_corrupt(magic: int) -> None:
    data = bytearray(BATCH)
    data[batch.MAGIC_POSITION] = magic
    assert refused(data) == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("length", "code"),
    [
        (-(2**31), ErrorCode.CORRUPT_MESSAGE),
        (-1, ErrorCode.CORRUPT_MESSAGE),
        (0, ErrorCode.CORRUPT_MESSAGE),
        (14, ErrorCode.CORRUPT_MESSAGE),
        (48, ErrorCode.CORRUPT_MESSAGE),
        (49, ErrorCode.CORRUPT_MESSAGE),
        (len(BATCH) - 12 - 1, ErrorCode.CORRUPT_MESSAGE),
        (len(BATCH) - 12 + 1, ErrorCode.INVALID_RECORD),
        (2**31 - 1, ErrorCode.INVALID_RECORD),
    ],
)
def test_a_wrong_length_is_refused(length: int, code: ErrorCode) -> None:
    data = bytearray(BATCH)
    data[8:12] = length.to_bytes(4, "big", signed=True)
    assert refused(data) == code


@pytest.mark.parametrize("size", [26, 60])
def test_a_batch_without_room_for_its_header_is_corrupt(size: int) -> None:
    data = bytearray(BATCH[:size])
    data[8:12] = (size - 12).to_bytes(4, "big")
    assert refused(data) == ErrorCode.CORRUPT_MESSAGE


def test_a_base_offset_other_than_0_is_invalid() -> None:
    data = bytearray(BATCH)
    batch.stamp(data, 0, base_offset=1, leader_epoch=0)
    assert refused(data) == ErrorCode.INVALID_RECORD


def test_a_batch_above_the_limit_is_too_large() -> None:
    assert validate(BATCH, ProduceRules(max_message_bytes=len(BATCH))).header.record_count == 3
    rules = ProduceRules(max_message_bytes=len(BATCH) - 1)
    assert refused(BATCH, rules) == ErrorCode.MESSAGE_TOO_LARGE


def test_a_batch_above_the_segment_size_is_a_list_too_large() -> None:
    assert validate(BATCH, ProduceRules(segment_bytes=len(BATCH))).header.record_count == 3
    rules = ProduceRules(segment_bytes=len(BATCH) - 1)
    assert refused(BATCH, rules) == ErrorCode.RECORD_LIST_TOO_LARGE


@pytest.mark.parametrize("position", [17, 21, 60, len(BATCH) - 1])
def test_a_wrong_checksum_is_corrupt(position: int) -> None:
    data = bytearray(BATCH)
    data[position] ^= 0x40
    assert refused(data) == ErrorCode.CORRUPT_MESSAGE


def test_size_is_checked_before_the_checksum_and_the_offset_before_both() -> None:
    data = bytearray(BATCH)
    data[-1] ^= 1
    small = ProduceRules(max_message_bytes=10)
    assert refused(data, small) == ErrorCode.MESSAGE_TOO_LARGE
    batch.stamp(data, 0, base_offset=1, leader_epoch=0)
    assert refused(data, small) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_unknown_codec_is_unsupported(number: int) -> None:
    def forge(header: BatchHeader) -> None:
        header.attributes = number

    assert refused(changed(forge)) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize("count", [-(2**31), -1, 0, 2, 4, 2**31 - 1])
def test_a_count_that_is_not_the_offset_range_is_invalid(count: int) -> None:
    def forge(header: BatchHeader) -> None:
        header.record_count = count

    assert refused(changed(forge)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("delta", "count"),
    [(-1, 0), (-2, -1), (1, 2), (3, 4), (2**31 - 2, 2**31 - 1), (-1, 3), (1, 3), (3, 3)],
)
def test_a_range_that_is_not_the_number_of_records_is_invalid(delta: int, count: int) -> None:
    def forge(header: BatchHeader) -> None:
        header.last_offset_delta = delta
        header.record_count = count

    assert refused(changed(forge)) == ErrorCode.INVALID_RECORD


def test_a_batch_without_records_is_invalid() -> None:
    header = BatchHeader.read(BATCH)
    header.last_offset_delta, header.record_count = -1, 0
    assert refused(assemble_batch(header, b"")) == ErrorCode.INVALID_RECORD


def test_a_control_batch_is_invalid() -> None:
    data = write_batch(RECORDS, attributes=CONTROL | TRANSACTIONAL)
    assert refused(data) == ErrorCode.INVALID_RECORD


def test_a_producer_without_sequence_is_invalid() -> None:
    assert refused(write_batch(RECORDS, producer=Producer(0, 0, -1))) == ErrorCode.INVALID_RECORD


def test_offsets_that_are_not_consecutive_are_invalid() -> None:
    swapped = [RECORDS[0], RECORDS[2], RECORDS[1]]
    header = BatchHeader.read(BATCH)
    section = write_batch([*swapped, RECORDS[2]])[batch.RECORDS_POSITION :]
    header.record_count, header.last_offset_delta = 4, 3
    assert refused(assemble_batch(header, section)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_payload_that_is_not_of_its_codec_is_invalid(codec: Codec) -> None:
    def forge(header: BatchHeader) -> None:
        header.attributes = codec

    assert refused(changed(forge)) == ErrorCode.INVALID_RECORD


def test_records_that_grow_beyond_the_bound_are_invalid() -> None:
    huge = write_batch([Record(0, NOW, None, bytes(64 * 2**20))], attributes=Codec.ZSTD)
    assert refused(huge) == ErrorCode.INVALID_RECORD
    wide = ProduceRules(max_message_bytes=5 * 2**20)
    assert validate(huge, wide).header.record_count == 1


def test_a_null_key_is_invalid_on_a_compacted_topic() -> None:
    keyless = [RECORDS[0], RECORDS[1]._replace(key=None), RECORDS[2]]
    data = write_batch(keyless)
    assert validate(data).header.record_count == 3
    with pytest.raises(RecordsRefused) as caught:
        validate(data, ProduceRules(is_compacted=True))
    assert caught.value.code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in caught.value.record_errors] == [1]
    assert records_of(validate(BATCH, ProduceRules(is_compacted=True))) == RECORDS


def test_a_timestamp_too_far_ahead_is_invalid() -> None:
    data = write_batch([RECORDS[0], Record(1, NOW + 101, b"k", b"v")])
    assert refused(data, ProduceRules(timestamp_after_max_ms=100)) == ErrorCode.INVALID_TIMESTAMP
    assert validate(data, ProduceRules(timestamp_after_max_ms=101)).header.record_count == 2


def test_a_timestamp_too_far_back_is_invalid() -> None:
    data = write_batch([Record(0, NOW, b"k", b"v"), Record(1, NOW - 101, b"k", b"v")])
    assert refused(data, ProduceRules(timestamp_before_max_ms=100)) == ErrorCode.INVALID_TIMESTAMP
    assert validate(data, ProduceRules(timestamp_before_max_ms=101)).header.record_count == 2


def test_a_wrong_timestamp_outweighs_a_missing_key() -> None:
    rules = ProduceRules(is_compacted=True, timestamp_after_max_ms=100)
    data = write_batch([Record(0, NOW, None, b"v"), Record(1, NOW + 101, b"k", b"v")])
    assert refused(data, rules) == ErrorCode.INVALID_TIMESTAMP


def test_a_timestamp_beyond_64_bits_is_invalid() -> None:
    def forge(header: BatchHeader) -> None:
        header.base_timestamp = 2**63 - 1

    assert refused(changed(forge)) == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_log_append_time_is_stamped(codec: Codec) -> None:
    data = write_batch(RECORDS, attributes=codec)
    rules = ProduceRules(is_log_append_time=True, timestamp_before_max_ms=1)
    valid = validate(memoryview(data), rules)
    assert valid.log_append_time_ms == NOW
    assert valid.header == BatchHeader.read(valid.data)
    assert crc_is_valid(valid.data, 0, valid.header.size)
    assert {record.timestamp for record in records_of(valid)} == {NOW}
    assert not valid.is_rebuilt


def test_a_producer_may_not_claim_log_append_time_of_the_topic() -> None:
    data = write_batch(RECORDS, attributes=LOG_APPEND_TIME)
    assert refused(data, ProduceRules(is_log_append_time=True)) == ErrorCode.INVALID_TIMESTAMP


def test_a_claim_of_log_append_time_is_removed_on_a_topic_with_create_time() -> None:
    valid = validate(write_batch(RECORDS, attributes=LOG_APPEND_TIME))
    assert not valid.header.is_log_append_time
    assert records_of(valid) == RECORDS


def test_a_claim_of_log_append_time_without_a_time_is_invalid() -> None:
    def forge(header: BatchHeader) -> None:
        header.attributes = LOG_APPEND_TIME
        header.max_timestamp = -1

    assert refused(changed(forge)) == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("stored", list(Codec))
@pytest.mark.parametrize("sent", list(Codec))
def test_the_topic_may_choose_the_codec(sent: Codec, stored: Codec) -> None:
    data = write_batch(RECORDS, attributes=sent | TRANSACTIONAL, producer=Producer(4, 1, 0))
    valid = validate(data, ProduceRules(codec=stored))
    assert valid.header.codec is stored
    assert valid.is_rebuilt == (sent != stored)
    assert crc_is_valid(valid.data, 0, valid.header.size)
    assert records_of(valid) == RECORDS
    assert (valid.header.is_transactional, valid.header.producer_id) == (True, 4)


def test_a_batch_that_grew_above_the_limit_is_too_large() -> None:
    data = write_batch([Record(0, NOW, None, bytes(5000))], attributes=Codec.GZIP)
    rules = ProduceRules(max_message_bytes=1000, codec=Codec.NONE)
    assert refused(data, rules) == ErrorCode.MESSAGE_TOO_LARGE


def test_lz4_with_linked_blocks_is_recompressed_for_java() -> None:
    section = write_batch(RECORDS)[batch.RECORDS_POSITION :]
    header = BatchHeader.read(BATCH)
    header.attributes = Codec.LZ4
    linked = bytes(cramjam.lz4.compress(section))
    assert lz4.has_linked_blocks(linked)
    valid = validate(assemble_batch(header, linked))
    assert valid.is_rebuilt
    assert not lz4.has_linked_blocks(valid.data[batch.RECORDS_POSITION :])
    assert records_of(valid) == RECORDS


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("magic", [0, 1])
def test_messages_become_one_batch(magic: int, version: int) -> None:
    data = write_message_set(RECORDS, magic=magic, codec=Codec.NONE)
    valid = validate(data, version=version)
    assert valid.is_rebuilt
    assert (valid.header.record_count, valid.header.producer_id) == (3, -1)
    assert [record.key for record in records_of(valid)] == [b"a", b"b", b"c"]


def test_an_old_request_may_carry_a_batch() -> None:
    assert not validate(BATCH, version=2).is_rebuilt


def test_a_converted_batch_above_the_limit_is_too_large() -> None:
    data = write_message_set(RECORDS[:1], magic=0, codec=Codec.NONE)
    rules = ProduceRules(max_message_bytes=len(data))
    assert refused(data, rules, version=1) == ErrorCode.MESSAGE_TOO_LARGE


def test_a_malformed_message_is_invalid() -> None:
    data = write_message(Message(0, 1, Codec.GZIP, 0, None, b"garbage"))
    assert refused(data, version=2) == ErrorCode.INVALID_RECORD
