"""Columns and rows: of bytes that Java has written, and into bytes that Java reads."""

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.records import WriteOptions, java_reads, java_writes
from conformance.apache.samples import NOW_MS, PAYLOADS
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.building import BatchForm, NewRecords, encode_columns
from moldau.records.columns import BinaryColumn, Columns, decode_columns
from moldau.records.compression import Codec
from moldau.records.fetched import StopReason
from moldau.records.record import Header, Record
from moldau.records.rows import Rows

pytestmark = needs_apache("kafka-3.9")


@pytest.fixture(scope="module")
def expected() -> list[Record]:
    """What `fetched` holds: every payload in every codec and with both kinds of timestamp."""
    records: list[Record] = []
    for is_log_append_time in (False, True):
        for _ in Codec:
            for payload in PAYLOADS.values():
                start = len(records)
                records += [
                    record._replace(
                        offset=start + record.offset,
                        timestamp=NOW_MS + 777 if is_log_append_time else record.timestamp,
                    )
                    for record in payload
                ]
    return records


@pytest.fixture(scope="module")
def fetched(oracle: JavaProgram, expected: list[Record]) -> bytes:
    """Batches one behind the other, with half a batch at the end as a fetch may have it."""
    data = bytearray()
    start = 0
    for timestamp_type in ("CreateTime", "LogAppendTime"):
        for codec in Codec:
            for payload in PAYLOADS.values():
                options = WriteOptions(
                    codec=codec, timestamp_type=timestamp_type, log_append_time=NOW_MS + 777
                )
                data += java_writes(oracle, expected[start : start + len(payload)], options)
                start += len(payload)
    return bytes(data + data[:100])


def test_rows_are_what_java_wrote(fetched: bytes, expected: list[Record]) -> None:
    found = [
        Record(row.offset, row.timestamp, row.key, row.value, tuple(row.headers))
        for row in Rows(fetched)
    ]
    assert found == expected


def test_columns_are_what_java_wrote(fetched: bytes, expected: list[Record]) -> None:
    columns = decode_columns(fetched)
    assert records_of(columns) == expected
    assert columns.stop == StopReason.DATA_END
    assert columns.next_offset == len(expected)
    assert columns.position == len(fetched) - 100
    half = len(expected) // 2
    assert bytes(columns.timestamp_types) == bytes(half) + b"\1" * half


@pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name)
@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("size_max", [20_000, 2**24])
def test_java_reads_batches_built_from_columns(
    oracle: JavaProgram, codec: Codec, payload: str, size_max: int
) -> None:
    records = PAYLOADS[payload]
    columns = decode_columns(write_batch(records))
    new = NewRecords(columns.timestamps, columns.values, columns.keys, columns.headers)
    producer = Producer(9, 1, 100)
    form = BatchForm(size_max, attributes=codec | TRANSACTIONAL, producer=producer)
    batches = java_reads(oracle, encode_columns(new, form).data)
    found = [record[1:] for batch in batches for record in batch.records]
    assert found == [record[1:] for record in records]
    assert [record.offset for batch in batches for record in batch.records] == [
        offset for batch in batches for offset in range(batch.last_offset + 1)
    ]
    sequence = producer.base_sequence
    for batch in batches:
        assert batch.codec in (codec, Codec.NONE)  # none where it makes nothing smaller
        assert (batch.producer_id, batch.producer_epoch, batch.is_transactional) == (9, 1, True)
        assert batch.base_sequence == sequence
        sequence = batch.last_sequence + 1


def records_of(columns: Columns) -> list[Record]:
    """The columns, turned back into rows."""
    assert columns.keys is not None
    assert columns.values is not None
    return [
        Record(
            columns.offsets[row],
            columns.timestamps[row],
            cell(columns.keys, row),
            cell(columns.values, row),
            headers_of(columns, row),
        )
        for row in range(columns.row_count)
    ]


def headers_of(columns: Columns, row: int) -> tuple[Header, ...]:
    headers = columns.headers
    assert headers is not None
    return tuple(
        (cell(headers.keys, index) or b"", cell(headers.values, index))
        for index in range(headers.offsets[row], headers.offsets[row + 1])
    )


def cell(column: BinaryColumn, row: int) -> bytes | None:
    if column.validity is not None:
        bit = column.validity_start + row
        if not column.validity[bit // 8] >> bit % 8 & 1:
            return None
    return bytes(column.data[column.offsets[row] : column.offsets[row + 1]])
