"""Tables of fetched records say what rows of them say."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.arrow.tables import COLUMNS, SCHEMA, read_table
from moldau.client.consumer.assignment import Chunk
from moldau.client.record import ConsumerRecord
from moldau.errors import CorruptMessage
from moldau.model import TopicPartition
from moldau.records.batch import write_batch
from moldau.records.compression import Codec
from moldau.records.fetched import Selection
from moldau.records.record import Record
from moldau.records.rows import read_rows

T1 = TopicPartition("topic", 1)

nullable = st.none() | st.binary(max_size=30)
headers = st.lists(st.tuples(st.binary(max_size=4), nullable), max_size=2).map(tuple)
parts = st.tuples(st.integers(0, 2**45), nullable, nullable, headers)
batches_of = st.lists(
    st.tuples(st.lists(parts, min_size=1, max_size=5), st.sampled_from(Codec)), max_size=4
)


def fetched(batches: list[tuple[list[tuple[int, bytes, bytes, tuple[()]]], Codec]]) -> bytes:
    data, offset = b"", 0
    for rows, codec in batches:
        records = [Record(offset + index, *row) for index, row in enumerate(rows)]
        data += bytes(write_batch(records, base_offset=offset, attributes=int(codec)))
        offset += len(rows)
    return data


def chunk_of(data: bytes) -> Chunk:
    selection = Selection()
    return Chunk(read_rows(data, selection, T1), 0, memoryview(data), selection)


def rows_of(table: pa.Table) -> list[ConsumerRecord[bytes, bytes]]:
    return [
        ConsumerRecord(
            row["topic"],
            row["partition"],
            row["offset"],
            int(row["timestamp"].value if hasattr(row["timestamp"], "value") else row["timestamp"]),
            row["key"],
            row["value"],
            tuple((each["key"], each["value"]) for each in row["headers"]),
        )
        for row in table.set_column(
            COLUMNS.index("timestamp"), "timestamp", table["timestamp"].cast(pa.int64())
        ).to_pylist()
    ]


@given(batches_of, st.integers(0, 20), st.integers(0, 20))
def test_tables_equal_rows(
    batches: list[tuple[list[tuple[int, bytes, bytes, tuple[()]]], Codec]], start: int, end: int
) -> None:
    data = fetched(batches)
    table = read_table([(T1, chunk_of(data), start)], end_offsets={T1: end})
    table.validate(full=True)
    assert table.schema == SCHEMA
    reader = read_rows(data, Selection(start, end), T1)
    assert rows_of(table) == reader.take(1000)


def test_columns_can_be_chosen() -> None:
    data = fetched([([(5, b"k", b"v", ())], Codec.NONE)])
    table = read_table([(T1, chunk_of(data), 0)], ["offset", "value"])
    assert table.to_pydict() == {"offset": [0], "value": [b"v"]}
    with pytest.raises(ValueError, match="no column 'values': there are key, value"):
        read_table([], ["values"])


def test_nothing_fetched_is_an_empty_table() -> None:
    assert read_table([]).num_rows == 0


def test_damage_is_an_error_that_says_where() -> None:
    data = bytearray(fetched([([(5, b"k", b"v", ())], Codec.NONE)]))
    data[-2] ^= 1
    with pytest.raises(CorruptMessage, match=r"topic-1 at 0: .*checksum"):
        read_table([(T1, chunk_of(bytes(data)), 0)])
