"""Records become a table for SQL."""

import pyarrow as pa

from moldau.client.arrow.tables import SCHEMA, schema_of
from moldau.console.messages.scanning import COLUMNS
from moldau.console.queries.slices import slice_of


def test_text_is_text_and_the_rest_is_bytes() -> None:
    rows: list[dict[str, object]] = [
        {"key": b"k", "value": b"\xff", "partition": 1, "offset": 5, "timestamp": 7},
        {"key": None, "value": "é".encode(), "partition": 1, "offset": 6, "timestamp": 8},
    ]
    headers = [[{"key": "h", "value": b"v"}, {"key": "b", "value": b"\xff"}], []]
    table = pa.table(
        {
            name: pa.array(
                headers if name == "headers" else [row[name] for row in rows],
                SCHEMA.field(name).type,
            )
            for name in COLUMNS
        }
    )
    found = slice_of([table.slice(0, 1), table.slice(1, 1)], table.schema).to_pylist()
    assert [row["value"] for row in found] == [None, "é"]
    assert [row["key"] for row in found] == ["k", None]
    assert found[0]["value_bytes"] == b"\xff"
    assert found[0]["headers"] == [{"name": "h", "value": "v"}, {"name": "b", "value": None}]
    assert found[1]["headers"] == []
    assert found[0]["timestamp"].tzinfo is None


def test_no_records_are_a_table_too() -> None:
    assert slice_of([], schema_of(COLUMNS)).num_rows == 0
