"""Defaults of columns: an expression in SQL as a value of the column's schema.

Nothing is evaluated: a literal is its value, and of other expressions there is no default, except
that the time of the insert stands for the beginning of 1970, as with Debezium.
"""

import logging
import re

from moldau.connect.connectors.capture.column_mapping import ColumnMapping, default_value
from moldau.connect.connectors.mariadb.column_types import ColumnType
from moldau.connect.connectors.mariadb.row_images import bits_text

_log = logging.getLogger(__name__)

_QUOTED = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"''|\\(.)", re.DOTALL)
_BITS = re.compile(r"b'([01]*)'")
_NOW = re.compile(r"(current_timestamp|now|localtime|localtimestamp)\b.*", re.IGNORECASE)
_TIMED = ("timestamp", "datetime")
_BINARY = ("binary", "varbinary")


def default_of(
    kind: ColumnType, mapping: ColumnMapping, expression: str | None, *, is_quoted: bool
) -> object:
    """The value, or None where there is none; MySQL's catalogue has literals without quotes."""
    if expression is None or expression == "NULL":
        return None
    text = _literal(kind, expression, is_quoted=is_quoted)
    if text is None:
        return None
    return default_value(mapping, text, expression)


def _literal(kind: ColumnType, expression: str, *, is_quoted: bool) -> str | None:
    """As the log would have the value."""
    if kind.word in _TIMED and _NOW.fullmatch(expression):
        return "1970-01-01 00:00:00"
    bits = _BITS.fullmatch(expression)
    if bits is not None:
        return bits[1].zfill(kind.size)
    quoted = _QUOTED.fullmatch(expression)
    text = expression
    if quoted is not None:
        text = _ESCAPE.sub(lambda match: match[1] or "'", quoted[1])
    elif is_quoted and not expression.lstrip("-").replace(".", "", 1).isdigit():
        return None
    if kind.word == "bit":
        return bits_text(text.encode(), kind.size)
    if kind.word in _BINARY:
        return text.encode().hex()
    return text
