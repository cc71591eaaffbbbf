"""Record batches between us and other implementations."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kio.records import schema as kio
from kio.records.readers import read_batch as kio_read_batch
from kio.records.writers import write_new_batch as kio_write_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

from moldau.records.batch import (
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    crc_is_valid,
    read_records,
    stamp,
    write_batch,
)
from moldau.records.compression import Codec
from moldau.records.record import Record

LIMIT = 1 << 24
TIME = 1_600_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SMALL = [
    Record(0, TIME, b"key", b"value", ((b"one", b"1"), (b"two", None), (b"", b""))),
    Record(1, TIME - 7, None, b""),
    Record(2, TIME + 9, b"", None),
]
LARGE = [
    Record(offset, TIME + offset, b"%d" % offset, b"%d;" % offset * 500) for offset in range(500)
]
PRODUCER = Producer(77, 3, 12)
every_codec = pytest.mark.parametrize("codec", list(Codec))
every_size = pytest.mark.parametrize("records", [SMALL, LARGE], ids=["small", "large"])


@every_codec
@every_size
def test_aiokafka_reads_our_batches(records: list[Record], codec: Codec) -> None:
    data = bytes(write_batch(records, attributes=codec | TRANSACTIONAL, producer=PRODUCER))
    theirs = DefaultRecordBatch(data)
    assert theirs.validate_crc()
    assert theirs.is_transactional
    assert (theirs.producer_id, theirs.next_offset) == (77, len(records))
    assert [
        Record(
            row.offset,
            row.timestamp,
            row.key,
            row.value,
            tuple((key.encode(), value) for key, value in row.headers),
        )
        for row in theirs
    ] == records


@every_codec
@every_size
def test_we_read_the_batches_of_aiokafka(records: list[Record], codec: Codec) -> None:
    data = aiokafka_batch(records, codec)
    header = BatchHeader.read(data)
    assert crc_is_valid(data, 0, len(data))
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == PRODUCER
    assert list(read_records(data, limit_bytes=LIMIT)) == records


@every_size
def test_our_uncompressed_batch_is_that_of_aiokafka(records: list[Record]) -> None:
    ours = write_batch(records, attributes=TRANSACTIONAL, producer=PRODUCER)
    theirs = aiokafka_batch(records, Codec.NONE)
    stamp(ours, 0, base_offset=0, leader_epoch=0)
    stamp(theirs, 0, base_offset=0, leader_epoch=0)
    assert ours == theirs


def aiokafka_batch(records: list[Record], codec: Codec) -> bytearray:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=1,
        producer_id=PRODUCER.producer_id,
        producer_epoch=PRODUCER.epoch,
        base_sequence=PRODUCER.base_sequence,
        batch_size=1 << 24,
    )
    for record in records:
        headers = [(key.decode(), value) for key, value in record.headers]
        builder.append(record.offset, record.timestamp, record.key, record.value, headers)
    return bytearray(builder.build())


@every_size
def test_kio_reads_our_batches(records: list[Record]) -> None:
    # Its timestamps are those of the batch in whole seconds.
    data = bytes(write_batch(records, producer=PRODUCER))
    theirs, size = kio_read_batch(data, 0)
    assert size == len(data)
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == PRODUCER
    assert [
        Record(
            row.offset,
            int(row.timestamp.timestamp()) * 1000,
            row.key,
            row.value,
            tuple((header.key or b"", header.value) for header in row.headers),
        )
        for row in theirs.records
    ] == [record._replace(timestamp=record.timestamp // 1000 * 1000) for record in records]


@every_size
def test_our_batch_is_that_of_kio(records: list[Record]) -> None:
    buffer = io.BytesIO()
    kio_write_batch(
        buffer,
        kio.NewRecordBatch(
            producer_id=i64(PRODUCER.producer_id),
            producer_epoch=i16(PRODUCER.epoch),
            base_sequence=i32(PRODUCER.base_sequence),
            attributes=i16(0),
            records=tuple(kio_record(record) for record in records),
        ),
    )
    ours = write_batch(records, producer=PRODUCER)
    stamp(ours, 0, base_offset=0, leader_epoch=0)
    assert ours == buffer.getvalue()


def kio_record(record: Record) -> kio.Record:
    return kio.Record(
        attributes=i8(0),
        timestamp=TZAwareMicros.parse(EPOCH + timedelta(milliseconds=record.timestamp)),
        offset=i64(record.offset),
        key=record.key,
        value=record.value,
        headers=tuple(kio.RecordHeader(key=key, value=value) for key, value in record.headers),
    )
