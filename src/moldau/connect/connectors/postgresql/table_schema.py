"""PostgreSQL's tables as captured ones: which columns they give, and how."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moldau.connect.connectors.capture.tables import CapturedTable, GivenColumn, TableName, zero_of
from moldau.connect.connectors.postgresql.column_types import PgType, column_mapping
from moldau.connect.connectors.postgresql.defaults import default_of
from moldau.connect.connectors.postgresql.envelope_schemas import SOURCE
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.data.schema import Schema

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CapturedColumn:
    """A column as the catalogue and the log describe it."""

    name: str
    kind: PgType
    typmod: int = -1
    is_nullable: bool = True
    default: str | None = None
    """An expression."""


@dataclass(frozen=True, slots=True)
class RowRules:
    """What settings say of columns."""

    modes: HandlingModes
    has_column: Callable[[str], bool]
    """By `schema.table.column`."""
    mask: Callable[[str, Schema], Callable[[object], object] | None]


def captured_table(
    name: TableName,
    topic: str,
    columns: Sequence[CapturedColumn],
    key: Sequence[str],
    rules: RowRules,
) -> CapturedTable:
    """A table of these columns, as settings want it."""
    return CapturedTable(name, topic, [_given(each, name, rules) for each in columns], key, SOURCE)


def _given(column: CapturedColumn, table: TableName, rules: RowRules) -> GivenColumn | None:
    full = f"{table}.{column.name}"
    if not rules.has_column(full):
        return None
    mapping = column_mapping(column.kind, column.typmod, rules.modes)
    if mapping is None:
        _log.warning(
            "%s is left out: its type %s is not known; include.unknown.datatypes=true gives bytes",
            *(full, column.kind.name),
        )
        return None
    default = default_of(column.kind, mapping, column.default)
    schema = mapping.schema.but(default=default, optional=column.is_nullable)
    unknown = None
    if not column.is_nullable:
        unknown = zero_of(mapping.schema) if default is None else default
    mask = rules.mask(full, schema)
    return GivenColumn(column.name, schema, mapping.convert, mapping.unchanged, unknown, mask)
