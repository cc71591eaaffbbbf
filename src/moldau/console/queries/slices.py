"""Records as a table for SQL: keys and values as text where they are text, and as bytes."""

import pyarrow as pa

from moldau.console.messages.decoding import decoded
from moldau.console.messages.payloads import Read


def slice_of(tables: list[pa.Table], schema: pa.Schema, read: Read | None = None) -> pa.Table:
    """The records of all tables; the schema is that of tables without records.

    What a registry makes of keys and values is text as well.
    """
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    texts = table if read is None or not table.num_rows else decoded(table, read)
    headers = table["headers"].combine_chunks()
    if isinstance(headers, pa.ChunkedArray):  # none at all
        headers = pa.array([], headers.type)
    flat = headers.flatten()
    named = pa.StructArray.from_arrays(
        [flat.field("key"), _text(flat.field("value"))],
        fields=[pa.field("name", pa.string()), pa.field("value", pa.string())],
    )
    lists = pa.ListArray.from_arrays(headers.offsets, named)
    zone_free = table["timestamp"].cast(pa.timestamp("ms"))
    return pa.table(
        {
            "partition": table["partition"],
            "offset": table["offset"],
            "timestamp": zone_free,
            "key": _text(texts["key"]),
            "value": _text(texts["value"]),
            "headers": lists,
            "key_bytes": table["key"],
            "value_bytes": table["value"],
        }
    )


def _text(column: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """As text; null where it is none."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(each) for each in column.to_pylist()], pa.string())


def _decoded(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None
