"""MariaDB's tables as captured ones: which columns they give, and how."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moldau.connect.connectors.capture.tables import CapturedTable, GivenColumn, TableName, zero_of
from moldau.connect.connectors.mariadb.catalog import KnownColumn
from moldau.connect.connectors.mariadb.column_types import column_mapping
from moldau.connect.connectors.mariadb.defaults import default_of
from moldau.connect.connectors.mariadb.modes import ValueModes
from moldau.connect.data.schema import Schema

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ColumnRules:
    """What settings say of columns."""

    modes: ValueModes
    has_column: Callable[[str], bool]
    """By `database.table.column`."""
    mask: Callable[[str, Schema], Callable[[object], object] | None]
    source: Schema
    """Of the block `source`, which differs with the connector's class."""
    is_mariadb: bool = True


def captured_table(
    name: TableName,
    topic: str,
    columns: Sequence[KnownColumn],
    key: Sequence[str],
    rules: ColumnRules,
) -> CapturedTable:
    """A table of these columns, as settings want it."""
    given = [_given(each, name, rules) for each in columns]
    return CapturedTable(name, topic, given, key, rules.source)


def _given(column: KnownColumn, table: TableName, rules: ColumnRules) -> GivenColumn | None:
    full = f"{table}.{column.name}"
    if not rules.has_column(full):
        return None
    mapping = column_mapping(column.kind, rules.modes)
    if mapping is None:
        _log.warning("%s is left out: its type %s is not known", full, column.kind.word)
        return None
    default = default_of(column.kind, mapping, column.default, is_quoted=rules.is_mariadb)
    schema = mapping.schema.but(default=default, optional=column.is_nullable)
    unknown = None
    if not column.is_nullable:
        unknown = zero_of(mapping.schema) if default is None else default
    mask = rules.mask(full, schema)
    return GivenColumn(column.name, schema, mapping.convert, mapping.unchanged, unknown, mask)
