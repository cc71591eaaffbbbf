"""A captured table: the schemas of its keys, rows and envelopes, and rows made from texts."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from moldau.connect.connectors.postgresql.column_types import PgType, column_mapping
from moldau.connect.connectors.postgresql.defaults import default_of
from moldau.connect.connectors.postgresql.envelope_schemas import envelope_schema
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.connectors.postgresql.pgoutput import Cell, Cells, Toast
from moldau.connect.data.schema import DECIMAL, Field, Kind, Schema, struct
from moldau.connect.errors import DataError

_log = logging.getLogger(__name__)

Row = dict[str, object]


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
class TableName:
    """Where a table is."""

    schema: str
    name: str

    def __str__(self) -> str:
        """As filters and the transaction topic name it."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class _Given:
    """A column that is part of rows."""

    index: int
    name: str
    schema: Schema
    convert: Callable[[str], object]
    unchanged: object
    unknown: object
    """What a row has for null; where that cannot be, and a value is not known: its default, or a
    zero."""
    mask: Callable[[object], object] | None


class CapturedTable:
    """Made anew whenever the table changes."""

    def __init__(
        self,
        name: TableName,
        topic: str,
        columns: Sequence[CapturedColumn],
        key: Sequence[str],
        rules: "RowRules",
    ) -> None:
        self.name = name
        self.topic = topic
        self._given = [
            found
            for index, each in enumerate(columns)
            if (found := _given(index, each, name, rules)) is not None
        ]
        fields = tuple(Field(each.name, each.schema) for each in self._given)
        self.row_schema = Schema(Kind.STRUCT, optional=True, name=f"{topic}.Value", fields=fields)
        self.envelope = envelope_schema(topic, self.row_schema)
        by_name = {each.name: each for each in self._given}
        self._key = [by_name[each] for each in key if each in by_name]
        self.key_schema: Schema | None = None
        if self._key:
            listed = [(each.name, each.schema) for each in self._key]
            self.key_schema = struct(listed, name=f"{topic}.Key")
        self._column_count = len(columns)
        self._has_warned = False

    def row(self, cells: Cells, old: Cells | None = None) -> Row:
        """A row; `old` has the large values that a change left as they were, if it is whole."""
        if len(cells) != self._column_count:
            raise DataError(
                f"{self.name}: a row of {len(cells)} values for {self._column_count} columns"
            )
        found: Row = {}
        for each in self._given:
            cell = cells[each.index]
            if cell is Toast.UNCHANGED and old is not None:
                cell = old[each.index]
            found[each.name] = each.unknown if cell is None else self._value(each, cell)
        return found

    def key_of(self, cells: Cells) -> Row | None:
        """The key of a row; None if the table has none."""
        if self.key_schema is None:
            return None
        return {each.name: self._value(each, cells[each.index]) for each in self._key}

    def has_key_in(self, old: Cells) -> bool:
        """Whether what is known of an old row has the key."""
        return all(isinstance(old[each.index], str) for each in self._key)

    def _value(self, column: _Given, cell: Cell) -> object:
        if cell is None:
            return column.unknown
        if isinstance(cell, Toast):
            return self._unchanged(column)
        try:
            value = column.convert(cell)
        except (ValueError, ArithmeticError) as error:
            raise DataError(
                f"{self.name}.{column.name}: a value cannot be converted: {error}"
            ) from error
        if value is None:
            return column.unknown
        return value if column.mask is None else column.mask(value)

    def _unchanged(self, column: _Given) -> object:
        if column.unchanged is None and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s.%s: a large value that did not change is given as null, for want of a mark of "
                "its type; ALTER TABLE %s REPLICA IDENTITY FULL has the log carry it",
                *(self.name, column.name, self.name),
            )
        return column.unknown if column.unchanged is None else column.unchanged


@dataclass(frozen=True, slots=True)
class RowRules:
    """What settings say of columns."""

    modes: HandlingModes
    has_column: Callable[[str], bool]
    """By `schema.table.column`."""
    mask: Callable[[str, Schema], Callable[[object], object] | None]


def _given(index: int, column: CapturedColumn, table: TableName, rules: RowRules) -> _Given | None:
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
        unknown = _zero(mapping.schema) if default is None else default
    mask = rules.mask(full, schema)
    return _Given(index, column.name, schema, mapping.convert, mapping.unchanged, unknown, mask)


_ZEROS: dict[Kind, object] = {
    Kind.BOOLEAN: False,
    Kind.STRING: "",
    Kind.BYTES: b"",
    Kind.FLOAT32: 0.0,
    Kind.FLOAT64: 0.0,
}


def _zero(schema: Schema) -> object:
    if schema.name == DECIMAL:
        return Decimal(0).scaleb(-schema.scale)
    if schema.kind is Kind.ARRAY:
        return []
    if schema.kind is Kind.MAP:
        return {}
    if schema.kind is Kind.STRUCT:
        return {each.name: _zero(each.schema) for each in schema.fields}
    if schema.kind is Kind.STRING and schema.name == "io.debezium.time.ZonedTimestamp":
        return "1970-01-01T00:00:00Z"
    return _ZEROS.get(schema.kind, 0)
