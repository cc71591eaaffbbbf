"""Many values of JSON at once, as a column, where that gives the same as one after the other.

Neighbours in a topic begin with the same schema, in the same words. Arrow reads what follows it,
if it is structs of numbers and texts. Whatever it would take otherwise than `JsonConverter` is left
to that one, and so is everything that is not right.
"""

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from moldau.connect.data.arrow import arrow_field
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema

_KINDS = frozenset(
    {Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.FLOAT64, Kind.BOOLEAN, Kind.STRING}
)
_LOGICAL = frozenset({DATE, DECIMAL, TIME, TIMESTAMP})
# An integer to Python, which has no sign then; Arrow has one.
_MINUS_ZERO = re.compile(rb":[ \t\n\r]*-0[ \t\n\r]*[,}]")
_SPACE = b" \t\n\r"
_BRACE = b"{"


def has_columns(schema: Schema) -> bool:
    """Whether values of a schema may be read like that."""
    names = {each.name for each in schema.fields}
    return 0 < len(names) == len(schema.fields) and all(
        each.schema.kind in _KINDS and each.schema.name not in _LOGICAL for each in schema.fields
    )


def structs_of(schema: Schema, prefix: bytes, values: Sequence[bytes | None]) -> pa.Array | None:
    """The structs behind a prefix and before a last brace; None if they are to be read otherwise.

    `schema` is one that `has_columns`.
    """
    first = values[0]
    if first is None or not first.startswith(prefix):
        return None
    at = len(first) - len(first[len(prefix) :].lstrip(_SPACE))
    head = first[:at] + _BRACE
    # Each begins and ends with a brace, and there are as many structs as lines: so each line is
    # one, since no line can go on with what the one before it has left open.
    lines = [
        each[at:-1] for each in values if each and each.startswith(head) and each.endswith(b"}}")
    ]
    if len(lines) != len(values):
        return None
    text = b"\n".join(lines)
    found = _read(schema, text)
    if found is None or found.num_rows != len(lines) or not _is_alike(schema, found, text):
        return None
    fields = [arrow_field(each.name, each.schema) for each in schema.fields]
    columns = [found.column(each.name).combine_chunks() for each in fields]
    if any(
        each.null_count and not field.nullable for each, field in zip(columns, fields, strict=True)
    ):
        return None
    return pa.StructArray.from_arrays(columns, fields=fields)


def _read(schema: Schema, text: bytes) -> pa.Table | None:
    fields = [pa.field(each.name, arrow_field("", each.schema).type) for each in schema.fields]
    try:
        text.decode()  # Arrow does not look
        return pyarrow.json.read_json(
            pa.BufferReader(text),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore"
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None


def _is_alike(schema: Schema, found: pa.Table, text: bytes) -> bool:
    """Whether its numbers are those that Python reads."""
    numbers = [each.name for each in schema.fields if each.schema.kind is Kind.FLOAT64]
    if not numbers:
        return True
    # Arrow has more words for what is not finite than Python.
    is_finite = all(
        pc.all(pc.is_finite(found.column(name)), min_count=0).as_py() for name in numbers
    )
    return is_finite and _MINUS_ZERO.search(text) is None
