"""Message sets of magic 0 and 1, and conversion to them, between us and kafka-clients."""

import pytest

from conformance.apache.lines import JavaProgram, from_base64
from conformance.apache.marks import needs_apache
from conformance.apache.records import WriteOptions, java_reads, java_writes
from conformance.apache.samples import NOW_MS, PAYLOADS, SMALL
from moldau.model import NO_TIMESTAMP
from moldau.records.batch import stamp_log_append_time, write_batch
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, write_end_marker
from moldau.records.downconvert import down_convert
from moldau.records.entries import iterate_entries
from moldau.records.legacy import read_message, unwrap, write_message_set
from moldau.records.record import Record

pytestmark = needs_apache("kafka-3.9")

LIMIT_BYTES = 64 * 2**20
OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]

both_magics = pytest.mark.parametrize("magic", [0, 1])
every_old_codec = pytest.mark.parametrize("codec", OLD_CODECS, ids=lambda codec: codec.name)
every_payload = pytest.mark.parametrize("payload", PAYLOADS)


def old(records: tuple[Record, ...], magic: int) -> list[Record]:
    """What is left of records in an old format, at offsets that are not relative ones."""
    return [
        Record(record.offset + 1000, record.timestamp if magic else NO_TIMESTAMP, *record[2:4])
        for record in records
    ]


def read_message_set(data: bytes | bytearray) -> list[Record]:
    """All records, as our reader sees them."""
    records: list[Record] = []
    for entry in iterate_entries(data):
        message = read_message(memoryview(data)[entry.position : entry.position + entry.size])
        records += unwrap(message, limit_bytes=LIMIT_BYTES)
    return records


def java_records(oracle: JavaProgram, data: bytes | bytearray) -> list[Record]:
    """All records, as Java sees them."""
    return [record for batch in java_reads(oracle, data) for record in batch.records]


@both_magics
@every_old_codec
@every_payload
def test_we_read_what_java_writes(
    oracle: JavaProgram, magic: int, codec: Codec, payload: str
) -> None:
    records = old(PAYLOADS[payload], magic)
    data = java_writes(oracle, records, WriteOptions(magic=magic, codec=codec))
    assert read_message_set(data) == records


@both_magics
@every_old_codec
@every_payload
def test_java_reads_what_we_write(
    oracle: JavaProgram, magic: int, codec: Codec, payload: str
) -> None:
    records = old(PAYLOADS[payload], magic)
    data = write_message_set(records, magic=magic, codec=codec)
    assert java_records(oracle, data) == records
    assert {batch.codec for batch in java_reads(oracle, data)} == {codec}


@both_magics
def test_uncompressed_sets_are_equal_byte_for_byte(oracle: JavaProgram, magic: int) -> None:
    records = old(SMALL, magic)
    theirs = java_writes(oracle, records, WriteOptions(magic=magic))
    assert write_message_set(records, magic=magic, codec=Codec.NONE) == theirs


@every_old_codec
def test_log_append_time_is_every_records_time(oracle: JavaProgram, codec: Codec) -> None:
    options = WriteOptions(
        magic=1, codec=codec, timestamp_type="LogAppendTime", log_append_time=NOW_MS + 777
    )
    data = java_writes(oracle, old(SMALL, 1), options)
    assert {record.timestamp for record in read_message_set(data)} == {NOW_MS + 777}


def stored_batches(codec: Codec) -> bytearray:
    """Part of a log: a batch, a marker, a batch with log-append time."""
    marker = write_end_marker(
        EndMarker(is_commit=True, coordinator_epoch=1),
        producer_id=1,
        producer_epoch=0,
        timestamp_ms=NOW_MS,
    )
    marker[:8] = (5).to_bytes(8, "big")
    shifted = [record._replace(offset=record.offset + 6) for record in SMALL]
    last = write_batch(shifted, base_offset=6, attributes=codec)
    stamp_log_append_time(last, 0, NOW_MS + 777)
    return write_batch(SMALL, attributes=codec) + marker + last


@both_magics
@every_old_codec
@pytest.mark.parametrize("start_offset", [0, 3, 8])
def test_batches_are_down_converted_as_java_does(
    oracle: JavaProgram, magic: int, codec: Codec, start_offset: int
) -> None:
    stored = stored_batches(codec)
    ours = down_convert(stored, to_magic=magic, start_offset=start_offset, limit_bytes=LIMIT_BYTES)
    assert_java_converts_so(oracle, stored, ours, magic=magic, start_offset=start_offset)


@every_old_codec
@pytest.mark.parametrize("start_offset", [0, 1003])
def test_messages_of_magic_1_are_down_converted_as_java_does(
    oracle: JavaProgram, codec: Codec, start_offset: int
) -> None:
    stored = java_writes(oracle, old(SMALL, 1), WriteOptions(magic=1, codec=codec))
    ours = down_convert(stored, to_magic=0, start_offset=start_offset, limit_bytes=LIMIT_BYTES)
    assert_java_converts_so(oracle, stored, ours, magic=0, start_offset=start_offset)


def assert_java_converts_so(
    oracle: JavaProgram,
    stored: bytes | bytearray,
    ours: bytearray,
    *,
    magic: int,
    start_offset: int,
) -> None:
    encoded = oracle.call("down_convert", data=stored, magic=magic, first_offset=start_offset)
    theirs = from_base64(encoded)
    batches = java_reads(oracle, theirs)
    assert [batch.records for batch in java_reads(oracle, ours)] == [
        batch.records for batch in batches
    ]
    assert read_message_set(theirs) == read_message_set(ours)
    if all(batch.codec == Codec.NONE for batch in batches):
        assert ours == theirs
