"""A captured table: the schemas of its keys, rows and envelopes, and rows made from texts."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from moldau.connect.connectors.capture.cells import Cell, Cells, Toast
from moldau.connect.connectors.capture.envelope_schemas import envelope_schema
from moldau.connect.data.schema import DECIMAL, Field, Kind, Schema, struct
from moldau.connect.errors import DataError

_log = logging.getLogger(__name__)

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class TableName:
    """Where a table is."""

    schema: str
    """Where there are no schemas, the database."""
    name: str

    def __str__(self) -> str:
        """As filters and the transaction topic name it."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class GivenColumn:
    """A column that is part of rows."""

    name: str
    schema: Schema
    convert: Callable[[str], object]
    unchanged: object
    """What stands for a large value that a change left as it was; None if nothing can."""
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
        columns: Sequence[GivenColumn | None],
        key: Sequence[str],
        source: Schema,
    ) -> None:
        """`columns` has None for each that is left out, `source` is of records' `source`."""
        self.name = name
        self.topic = topic
        self._given = [(at, each) for at, each in enumerate(columns) if each is not None]
        self._steps = [
            (at, each.name, each.convert, each.unknown, each.mask, each) for at, each in self._given
        ]
        fields = tuple(Field(each.name, each.schema) for _, each in self._given)
        self.row_schema = Schema(Kind.STRUCT, optional=True, name=f"{topic}.Value", fields=fields)
        self.envelope = envelope_schema(topic, self.row_schema, source)
        by_name = {each.name: (at, each) for at, each in self._given}
        self._key = [by_name[each] for each in key if each in by_name]
        self.key_schema: Schema | None = None
        if self._key:
            listed = [(each.name, each.schema) for _, each in self._key]
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
        for at, name, convert, unknown, mask, column in self._steps:
            cell = cells[at]
            if cell is Toast.UNCHANGED and old is not None:
                cell = old[at]
            if type(cell) is not str:
                found[name] = self._value(column, cell)
                continue
            # As `_value` has it, without a call for each value.
            try:
                value = convert(cell)
            except (ValueError, ArithmeticError) as error:
                raise self._unfit(column, error) from error
            if value is None:
                found[name] = unknown
            else:
                found[name] = value if mask is None else mask(value)
        return found

    def key_of(self, cells: Cells) -> Row | None:
        """The key of a row; None if the table has none."""
        if self.key_schema is None:
            return None
        return {each.name: self._value(each, cells[at]) for at, each in self._key}

    def has_key_in(self, old: Cells) -> bool:
        """Whether what is known of an old row has the key."""
        return all(isinstance(old[at], str) for at, _ in self._key)

    def _value(self, column: GivenColumn, cell: Cell) -> object:
        if cell is None:
            return column.unknown
        if isinstance(cell, Toast):
            return self._unchanged(column)
        try:
            value = column.convert(cell)
        except (ValueError, ArithmeticError) as error:
            raise self._unfit(column, error) from error
        if value is None:
            return column.unknown
        return value if column.mask is None else column.mask(value)

    def _unfit(self, column: GivenColumn, error: Exception) -> DataError:
        return DataError(f"{self.name}.{column.name}: a value cannot be converted: {error}")

    def _unchanged(self, column: GivenColumn) -> object:
        if column.unchanged is None and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s.%s: a large value that did not change is given as null, for want of a mark of "
                "its type; ALTER TABLE %s REPLICA IDENTITY FULL has the log carry it",
                *(self.name, column.name, self.name),
            )
        return column.unknown if column.unchanged is None else column.unchanged


_ZEROS: dict[Kind, object] = {
    Kind.BOOLEAN: False,
    Kind.STRING: "",
    Kind.BYTES: b"",
    Kind.FLOAT32: 0.0,
    Kind.FLOAT64: 0.0,
}


def zero_of(schema: Schema) -> object:
    """What a value that is not known is, where it cannot be null."""
    if schema.name == DECIMAL:
        return Decimal(0).scaleb(-schema.scale)
    if schema.kind is Kind.ARRAY:
        return []
    if schema.kind is Kind.MAP:
        return {}
    if schema.kind is Kind.STRUCT:
        return {each.name: zero_of(each.schema) for each in schema.fields}
    if schema.kind is Kind.STRING and schema.name == "io.debezium.time.ZonedTimestamp":
        return "1970-01-01T00:00:00Z"
    return _ZEROS.get(schema.kind, 0)
