"""Tables whose keys and values are what a registry makes of them, for filters and for SQL."""

import pyarrow as pa
import pyarrow.compute as pc

from moldau.client.registry import HEADER_SIZE
from moldau.console.filters.language import Both, Condition, Either, Filter, Not
from moldau.console.filters.matching import matching
from moldau.console.messages.payloads import Read

_ROW = "row"


def reads_json(wanted: Filter) -> bool:
    """Whether a filter goes into keys or values; their bytes alone do not do then."""
    match wanted:
        case Both(left, right) | Either(left, right):
            return reads_json(left) or reads_json(right)
        case Not(part):
            return reads_json(part)
        case Condition(("key" | "value"), path):
            return bool(path)
    return False


def decoded(table: pa.Table, read: Read) -> pa.Table:
    """The table with the JSON of all that names a schema in place of its bytes."""
    for name in ("key", "value"):
        at = table.schema.get_field_index(name)
        column = _decoded(table.column(at).combine_chunks(), read)
        if column is not None:
            table = table.set_column(at, name, column)
    return table


def _decoded(column: pa.Array, read: Read) -> pa.Array | None:
    """None if there is nothing to decode, which is known without a look at each value."""
    names_schema = pc.and_(
        pc.starts_with(column, "\0"), pc.greater_equal(pc.binary_length(column), HEADER_SIZE)
    )
    rows = pc.indices_nonzero(pc.fill_null(names_schema, False)).to_pylist()
    if not rows:
        return None
    values = column.to_pylist()
    for row in rows:
        found = read(values[row])
        if found is not None and "text" in found and "is_cut" not in found:
            values[row] = str(found["text"]).encode()
    return pa.array(values, pa.binary())


def matching_decoded(table: pa.Table, wanted: Filter, read: Read) -> pa.Table:
    """The rows, as they are, whose JSON a filter holds for."""
    numbered = decoded(table, read).append_column(_ROW, pa.array(range(table.num_rows)))
    return table.take(matching(numbered, wanted)[_ROW])
