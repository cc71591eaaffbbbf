"""What every transformation is made of: the half of a record that it changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from moldau.connect.config.values import flag
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import Kind
from moldau.connect.errors import DataError

REPLACE_NULL = "replace.null.with.default"


class Transformation(Protocol):
    """Changes a record, or takes it out by returning None."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """The record that goes on."""


@dataclass(frozen=True, slots=True)
class RecordSide:
    """The key or the value of records: what stands behind `$` in Java's class names."""

    name: str
    """`key` or `value`."""

    def of(self, record: ConnectRecord) -> Datum:
        """The half that is meant."""
        return record.key if self.name == "key" else record.value

    def set(self, record: ConnectRecord, datum: Datum) -> ConnectRecord:
        """The record with this half changed."""
        return record.but(**{self.name: datum})


def struct_of(datum: Datum, purpose: str) -> dict[str, object]:
    """The fields of a struct or a map; DataError if it is something else."""
    is_struct = datum.schema is None or datum.schema.kind in (Kind.STRUCT, Kind.MAP)
    if not is_struct or not isinstance(datum.value, dict):
        found = "null" if datum.value is None else type(datum.value).__name__
        wanted = "Map" if datum.schema is None else "Struct"
        raise DataError(f"Only {wanted} objects supported for [{purpose}], found: {found}")
    return datum.value


def fills_defaults(settings: Mapping[str, str]) -> bool:
    """Whether null in a field with a default counts as the default."""
    return flag(settings, REPLACE_NULL, default=True)


def field_value(datum: Datum, name: str, *, filled: bool) -> object:
    """A field's value; null counts as the default if that is wanted."""
    value = struct_of(datum, "field access").get(name)
    if value is None and filled and datum.schema is not None:
        field = datum.schema.field(name)
        return field.schema.default if field is not None else None
    return value
