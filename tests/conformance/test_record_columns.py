"""Fetched bytes that Java has written, read as rows and as columns."""

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.apache.records import WriteOptions, java_writes
from conformance.apache.samples import NOW_MS, PAYLOADS
from moldau.records.columns import BinaryColumn, Columns, decode_columns
from moldau.records.compression import Codec
from moldau.records.fetched import Stop
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
    assert columns.stop == Stop.DATA_END
    assert columns.next_offset == len(expected)
    assert columns.position == len(fetched) - 100
    half = len(expected) // 2
    assert bytes(columns.timestamp_types) == bytes(half) + b"\1" * half


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
