"""Defaults of columns: an expression in SQL as a value of the column's schema.

Nothing is evaluated: a literal is its value, a call of a function stands for the type's zero, as
with Debezium; of other expressions there is no default.
"""

import logging
import re

from moldau.connect.connectors.capture.column_mapping import ColumnMapping, default_value
from moldau.connect.connectors.postgresql.column_types import PgType
from moldau.connect.data.schema import Kind

_log = logging.getLogger(__name__)

_LITERAL = re.compile(r"'((?:[^']|'')*)'")
_CALL = re.compile(r"\(?[A-Za-z0-9_.]+\(")
_NOW = frozenset(
    {"current_timestamp", "current_time", "current_date", "localtime", "localtimestamp"}
)
_ZEROS = {
    **dict.fromkeys(("int2", "int4", "int8", "float4", "float8", "numeric"), "0"),
    **dict.fromkeys(("bpchar", "varchar", "text", "xml"), ""),
    **dict.fromkeys(("json", "jsonb"), "{}"),
    **dict.fromkeys(("bit", "varbit"), ""),
    **dict.fromkeys(("timestamp", "timestamptz"), "1970-01-01 00:00:00"),
    "bool": "false",
    "date": "1970-01-01",
    "time": "00:00:00",
    "interval": "00:00:00",
    "uuid": "00000000-0000-0000-0000-000000000000",
}


def default_of(kind: PgType, mapping: ColumnMapping, expression: str | None) -> object:
    """The value, or None where there is none."""
    zero = "" if kind.kind == "e" else _ZEROS.get(kind.name)
    if expression is None or zero is None or mapping.schema.kind in (Kind.STRUCT, Kind.ARRAY):
        return None
    text = _literal(expression, zero)
    if text is None or (kind.kind == "e" and text not in kind.labels):
        return None
    return default_value(mapping, text, expression)


def _literal(expression: str, zero: str) -> str | None:
    if _CALL.match(expression) or expression.lower() in _NOW:
        return zero
    if expression.upper().startswith("NULL::"):
        return None
    quoted = _LITERAL.search(expression)
    if quoted is not None:
        return quoted[1].replace("''", "'")
    return expression.strip("() ")
