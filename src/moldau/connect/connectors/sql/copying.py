"""Arrow tables as the CSV that PostgreSQL's COPY reads."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

_OPTIONS = pyarrow.csv.WriteOptions(include_header=False, delimiter=",", quoting_style="needed")


def csv_of(table: pa.Table) -> pa.Buffer:
    """Nothing between commas is null, an empty text has quotes."""
    columns = [_as_text(column) for column in table.columns]
    output = pa.BufferOutputStream()
    pyarrow.csv.write_csv(pa.table(columns, names=table.column_names), output, _OPTIONS)
    return output.getvalue()


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = column.to_pylist()
        return pa.array([None if each is None else f"\\x{each.hex()}" for each in values])
    if pa.types.is_decimal(kind):
        return pc.cast(column, pa.string())
    return column
