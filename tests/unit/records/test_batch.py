"""Record batches of format version 2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records import batch
from moldau.records.batch import BatchHeader, Producer, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record

LIMIT = 1 << 20
TIME = 1_600_000_000_000

# Two records (k: v, null: w five milliseconds later) with base time 1,600,000,000,000.
VECTOR = bytes.fromhex(
    "000000000000000000000042000000000236fee9f400000000000100000174876e8000"
    "00000174876e8005ffffffffffffffffffffffffffff0000000210000000026b027600"
    "0e000a0201027700"
)
TWO_RECORDS = [Record(0, TIME, b"k", b"v"), Record(1, TIME + 5, None, b"w")]


def test_the_known_batch_is_read_field_by_field() -> None:
    header = BatchHeader.read(VECTOR)
    assert header == BatchHeader(
        base_offset=0,
        size=len(VECTOR),
        leader_epoch=0,
        magic=2,
        crc=0x36FEE9F4,
        attributes=0,
        last_offset_delta=1,
        base_timestamp=TIME,
        max_timestamp=TIME + 5,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=2,
    )
    assert batch.crc_is_valid(VECTOR, 0, header.size)
    assert list(batch.read_records(VECTOR, limit_bytes=LIMIT)) == TWO_RECORDS


def test_the_known_batch_is_written_byte_for_byte() -> None:
    written = write_batch(TWO_RECORDS)
    batch.stamp(written, 0, base_offset=0, leader_epoch=0)
    assert written == VECTOR


@pytest.mark.parametrize("size", range(len(VECTOR)))
def test_a_header_that_is_cut_off_is_refused(size: int) -> None:
    if size < batch.RECORDS_POSITION:
        with pytest.raises(ProtocolError):
            BatchHeader.read(VECTOR[:size])
    else:
        with pytest.raises(ProtocolError):
            list(batch.read_records(VECTOR[:size], limit_bytes=LIMIT))


@pytest.mark.parametrize("magic", [0, 1, 3, 127, 255])
def test_another_magic_is_refused(magic: int) -> None:
    other = bytearray(VECTOR)
    other[batch.MAGIC_POSITION] = magic
    with pytest.raises(ProtocolError):
        BatchHeader.read(other)


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48])
def test_a_length_without_room_for_the_header_is_refused(length: int) -> None:
    other = bytearray(VECTOR)
    other[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(ProtocolError):
        BatchHeader.read(other)


def test_headers_are_iterated_up_to_a_partial_batch() -> None:
    data = b"\xff" + VECTOR * 3
    positions = [position for position, _ in batch.iterate_headers(data, 1)]
    assert positions == [1, 1 + len(VECTOR), 1 + 2 * len(VECTOR)]
    for cut in range(1, len(VECTOR) + 1):
        assert len(list(batch.iterate_headers(data, 1, len(data) - cut))) == 2


def test_the_stamp_leaves_the_checksum_valid() -> None:
    data = bytearray(b"\xff" + VECTOR)
    batch.stamp(data, 1, base_offset=77, leader_epoch=5)
    header = BatchHeader.read(data, 1)
    assert (header.base_offset, header.leader_epoch) == (77, 5)
    assert (header.last_offset, header.next_offset) == (78, 79)
    assert batch.crc_is_valid(data, 1, header.size)


def test_log_append_time_replaces_the_time_of_every_record() -> None:
    data = memoryview(bytearray(b"\xff" + VECTOR))
    batch.stamp_log_append_time(data, 1, TIME + 99)
    header = BatchHeader.read(data, 1)
    assert header.is_log_append_time
    assert batch.crc_is_valid(data, 1, header.size)
    times = [record.timestamp for record in batch.read_records(data, 1, limit_bytes=LIMIT)]
    assert times == [TIME + 99, TIME + 99]


def test_one_flipped_bit_breaks_the_checksum() -> None:
    for position in range(batch.CRC_POSITION, len(VECTOR)):
        data = bytearray(VECTOR)
        data[position] ^= 0x10
        assert not batch.crc_is_valid(data, 0, len(data))


def test_attributes_are_named() -> None:
    attributes = Codec.GZIP | batch.TRANSACTIONAL | batch.CONTROL | batch.DELETE_HORIZON
    header = BatchHeader.read(write_batch(TWO_RECORDS, attributes=attributes))
    assert header.codec is Codec.GZIP
    assert header.is_transactional
    assert header.is_control
    assert header.has_delete_horizon
    assert not header.is_log_append_time


@pytest.mark.parametrize("number", [5, 6, 7])
def test_an_unassigned_codec_is_refused(number: int) -> None:
    header = BatchHeader.read(VECTOR)
    header.attributes = number
    with pytest.raises(ProtocolError):
        _ = header.codec


def test_sequences_start_over_after_the_largest() -> None:
    data = write_batch(TWO_RECORDS, producer=Producer(7, 1, 2**31 - 1))
    header = BatchHeader.read(data)
    assert header.has_producer
    assert (header.base_sequence, header.last_sequence) == (2**31 - 1, 0)
    assert BatchHeader.read(VECTOR).last_sequence == -1
    assert not BatchHeader.read(VECTOR).has_producer


def test_offsets_may_have_gaps() -> None:
    sparse = [Record(12, TIME, b"a", None), Record(19, TIME, b"b", b"")]
    data = write_batch(sparse, base_offset=10)
    assert BatchHeader.read(data).next_offset == 20
    assert list(batch.read_records(data, limit_bytes=LIMIT)) == sparse


some_bytes = st.none() | st.binary(max_size=40)
some_headers = st.lists(st.tuples(st.binary(max_size=5), some_bytes), max_size=3).map(tuple)
some_records = st.lists(
    st.tuples(st.integers(-(2**62), 2**62), some_bytes, some_bytes, some_headers),
    min_size=1,
    max_size=8,
).map(lambda rows: [Record(offset, *row) for offset, row in enumerate(rows)])


@given(some_records, st.sampled_from(Codec))
def test_written_records_are_read_back(records: list[Record], codec: Codec) -> None:
    data = write_batch(records, attributes=codec)
    assert batch.crc_is_valid(data, 0, len(data))
    assert list(batch.read_records(data, limit_bytes=LIMIT)) == records
