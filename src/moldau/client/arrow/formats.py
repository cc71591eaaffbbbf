"""Bytes to typed columns and back: what every format of values has."""

from collections.abc import Mapping
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


def typed(table: pa.Table, formats: Mapping[str, ValueFormat | None]) -> pa.Table:
    """The table with typed columns in place of their bytes, for columns that have a format."""
    for name, form in formats.items():
        if form is None:
            continue
        index = table.schema.get_field_index(name)
        if index < 0:
            raise ValueError(f"a format of {name}s needs the column {name}")
        chunks = [form.decode(chunk) for chunk in table.column(index).chunks]
        table = table.set_column(
            index, pa.field(name, form.type), pa.chunked_array(chunks, form.type)
        )
    return table


def struct_of(rows: pa.Table | pa.RecordBatch | pa.Array) -> pa.Array:
    """The columns of a table as one column of structs, which formats encode."""
    if isinstance(rows, pa.Table):
        return rows.to_struct_array().combine_chunks()
    if isinstance(rows, pa.RecordBatch):
        return rows.to_struct_array()
    return rows
