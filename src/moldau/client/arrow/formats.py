"""Bytes to typed columns and back: what every format of values has."""

from typing import Protocol

import pyarrow as pa


class ValueFormat(Protocol):
    """A format with a schema; null stays null in both directions."""

    @property
    def type(self) -> pa.DataType:
        """The type of a column of values."""

    def decode(self, values: pa.Array) -> pa.Array:
        """A column of bytes to a column of values; ValueError names the first bad row."""

    def encode(self, values: pa.Array) -> pa.Array:
        """A column of values to a column of bytes."""


def with_values(table: pa.Table, value_format: ValueFormat) -> pa.Table:
    """The table with typed values in place of their bytes."""
    index = table.schema.get_field_index("value")
    if index < 0:
        raise ValueError("a format of values needs the column value")
    chunks = [value_format.decode(chunk) for chunk in table.column(index).chunks]
    typed = pa.chunked_array(chunks, value_format.type)
    return table.set_column(index, pa.field("value", value_format.type), typed)


def struct_of(rows: pa.Table | pa.RecordBatch | pa.Array) -> pa.Array:
    """The columns of a table as one column of structs, which formats encode."""
    if isinstance(rows, pa.Table):
        return rows.to_struct_array().combine_chunks()
    if isinstance(rows, pa.RecordBatch):
        return rows.to_struct_array()
    return rows
