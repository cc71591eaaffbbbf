"""Transformations of headers: HeaderFrom, InsertHeader, DropHeaders."""

from collections.abc import Mapping

from moldau.connect.config.values import listed, required
from moldau.connect.converters.headers import guessed
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import Schema
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.side import RecordSide, field_value, fills_defaults, struct_of


class HeaderFrom:
    """Moves or copies fields into headers."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._filled = fills_defaults(settings)
        self._fields = listed(settings, "fields")
        self._headers = listed(settings, "headers")
        self._moves = required(settings, "operation").lower() == "move"
        if settings["operation"].lower() not in ("move", "copy"):
            raise ConfigError(
                f"Invalid value {settings['operation']} for configuration operation: "
                "String must be one of: move, copy"
            )
        if not self._fields or len(self._fields) != len(self._headers):
            raise ConfigError(
                "'fields' config must have the same number of elements as 'headers' config."
            )

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Headers have the schemas of their fields."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        value = dict(struct_of(datum, "header from field"))
        added = [
            (header, Datum(self._value(datum, name), _schema(datum.schema, name)))
            for name, header in zip(self._fields, self._headers, strict=True)
        ]
        changed = record.but(headers=(*record.headers, *added))
        if not self._moves:
            return changed
        schema = datum.schema
        if schema is not None:
            kept = tuple(each for each in schema.fields if each.name not in self._fields)
            schema = schema.but(fields=kept)
        left = {name: each for name, each in value.items() if name not in self._fields}
        return self._side.set(changed, Datum(left, schema))

    def _value(self, datum: Datum, name: str) -> object:
        return field_value(datum, name, filled=self._filled)


def _schema(schema: Schema | None, name: str) -> Schema | None:
    field = None if schema is None else schema.field(name)
    return None if field is None else field.schema


class InsertHeader:
    """Adds a header whose kind is guessed from its text."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        self._header = required(settings, "header")
        self._value = guessed(required(settings, "value.literal"))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Beside others of the same name."""
        return record.but(headers=(*record.headers, (self._header, self._value)))


class DropHeaders:
    """Takes headers out by their names."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        required(settings, "headers")
        self._headers = set(listed(settings, "headers"))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """All of a name."""
        kept = tuple(each for each in record.headers if each[0] not in self._headers)
        return record.but(headers=kept)
