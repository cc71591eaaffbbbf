"""Record batches of format version 2, between us and kafka-clients."""

import pytest

from conformance.apache.lines import JavaProgram, from_base64
from conformance.apache.marks import needs_apache
from conformance.apache.records import WriteOptions, java_reads, java_writes
from conformance.apache.samples import NOW_MS, PAYLOADS, SMALL
from moldau.records.batch import (
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    crc_is_valid,
    read_records,
    stamp,
    stamp_log_append_time,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.control import EndMarker, read_end_marker, write_end_marker

pytestmark = needs_apache("kafka-3.9")

LIMIT_BYTES = 64 * 2**20
every_codec = pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name)
every_payload = pytest.mark.parametrize("payload", PAYLOADS)


@every_codec
@every_payload
def test_java_reads_what_we_write(oracle: JavaProgram, codec: Codec, payload: str) -> None:
    records = PAYLOADS[payload]
    data = write_batch(records, attributes=codec)
    (batch,) = java_reads(oracle, data)
    assert tuple(batch.records) == records
    assert (batch.magic, batch.codec, batch.size) == (2, codec, len(data))
    assert (batch.base_offset, batch.last_offset) == (0, len(records) - 1)
    assert batch.max_timestamp == max(record.timestamp for record in records)


@every_codec
@every_payload
def test_we_read_what_java_writes(oracle: JavaProgram, codec: Codec, payload: str) -> None:
    records = PAYLOADS[payload]
    data = java_writes(oracle, records, WriteOptions(codec=codec))
    header = BatchHeader.read(data)
    assert crc_is_valid(data, 0, header.size)
    assert tuple(read_records(data, limit_bytes=LIMIT_BYTES)) == records
    assert (header.codec, header.size) == (codec, len(data))
    assert header.record_count == len(records)
    assert header.last_offset_delta == len(records) - 1


@every_payload
def test_uncompressed_batches_are_equal_byte_for_byte(oracle: JavaProgram, payload: str) -> None:
    records = PAYLOADS[payload]
    assert java_writes(oracle, records, WriteOptions()) == write_batch(records)


@every_codec
def test_producer_fields_and_the_transactional_bit_survive_both_ways(
    oracle: JavaProgram, codec: Codec
) -> None:
    producer = Producer(2**40 + 1, 32767, 2**31 - 3)  # the sequence wraps within the batch
    ours = write_batch(SMALL, attributes=codec | TRANSACTIONAL, producer=producer)
    (batch,) = java_reads(oracle, ours)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == producer
    assert batch.is_transactional
    assert batch.last_sequence == BatchHeader.read(ours).last_sequence == 1
    options = WriteOptions(codec=codec, producer=producer, is_transactional=True)
    theirs = BatchHeader.read(java_writes(oracle, SMALL, options))
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == producer
    assert theirs.is_transactional
    assert not theirs.is_control


def test_java_sees_the_stamps_of_a_leader(oracle: JavaProgram) -> None:
    data = write_batch(SMALL, attributes=Codec.ZSTD)
    stamp(data, 0, base_offset=2**40, leader_epoch=17)
    (batch,) = java_reads(oracle, data)
    assert (batch.base_offset, batch.leader_epoch) == (2**40, 17)
    assert [record.offset for record in batch.records] == list(range(2**40, 2**40 + 5))


@every_codec
def test_log_append_time_is_every_records_time_both_ways(oracle: JavaProgram, codec: Codec) -> None:
    data = write_batch(SMALL, attributes=codec)
    stamp_log_append_time(data, 0, NOW_MS + 777)
    (batch,) = java_reads(oracle, data)
    assert batch.timestamp_type == 1
    assert {record.timestamp for record in batch.records} == {batch.max_timestamp} == {NOW_MS + 777}
    options = WriteOptions(
        codec=codec, timestamp_type="LogAppendTime", log_append_time=NOW_MS + 777
    )
    theirs = java_writes(oracle, SMALL, options)
    assert BatchHeader.read(theirs).attributes & LOG_APPEND_TIME
    times = {record.timestamp for record in read_records(theirs, limit_bytes=LIMIT_BYTES)}
    assert times == {NOW_MS + 777}


def test_offsets_may_have_gaps_after_compaction(oracle: JavaProgram) -> None:
    survivors = [SMALL[1], SMALL[3]]
    (batch,) = java_reads(oracle, write_batch(survivors, attributes=Codec.LZ4))
    assert batch.records == survivors
    theirs = java_writes(oracle, survivors, WriteOptions(codec=Codec.LZ4), base_offset=0)
    assert list(read_records(theirs, limit_bytes=LIMIT_BYTES)) == survivors
    assert BatchHeader.read(theirs).next_offset == 4


def test_a_delete_horizon_takes_the_place_of_the_base_timestamp(oracle: JavaProgram) -> None:
    theirs = java_writes(oracle, SMALL, WriteOptions(delete_horizon=NOW_MS + 99))
    header = BatchHeader.read(theirs)
    assert header.has_delete_horizon
    assert header.base_timestamp == NOW_MS + 99
    assert tuple(read_records(theirs, limit_bytes=LIMIT_BYTES)) == SMALL


@pytest.mark.parametrize("is_commit", [True, False])
def test_transaction_markers_are_equal_byte_for_byte(oracle: JavaProgram, is_commit: bool) -> None:
    ours = write_end_marker(
        EndMarker(is_commit, coordinator_epoch=12),
        producer_id=99,
        producer_epoch=3,
        timestamp_ms=NOW_MS,
    )
    theirs = oracle.call(
        "write_marker",
        control_type="COMMIT" if is_commit else "ABORT",
        coordinator_epoch=12,
        producer_id=99,
        producer_epoch=3,
        timestamp=NOW_MS,
        base_offset=0,
        leader_epoch=-1,
    )
    assert ours == from_base64(theirs)
    assert read_end_marker(ours) == EndMarker(is_commit, coordinator_epoch=12)
    (batch,) = java_reads(oracle, ours)
    assert batch.is_control
    assert batch.control_type == ("COMMIT" if is_commit else "ABORT")
    assert batch.coordinator_epoch == 12
