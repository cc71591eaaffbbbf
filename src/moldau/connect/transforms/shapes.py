"""Transformations of a record's shape: ValueToKey, ExtractField, HoistField, Flatten."""

from collections.abc import Iterator, Mapping

from moldau.connect.config.values import listed, required
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import Field, Kind, Schema, struct
from moldau.connect.errors import DataError
from moldau.connect.transforms.paths import found_at, path_of
from moldau.connect.transforms.side import RecordSide, field_value, fills_defaults, struct_of


class ValueToKey:
    """Makes a key of some of the value's fields."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        required(settings, "fields")
        self._fields = listed(settings, "fields")
        self._filled = fills_defaults(settings)

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """DataError if the value has no such field, or is null."""
        value = struct_of(record.value, "copying fields from value to key")
        schema = record.value.schema
        if schema is None:
            return record.but(key=Datum({name: value.get(name) for name in self._fields}))
        fields = []
        for name in self._fields:
            field = schema.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            fields.append((name, field.schema))
        key = {name: field_value(record.value, name, filled=self._filled) for name in self._fields}
        return record.but(key=Datum(key, struct(fields)))


class ExtractField:
    """Puts a field in the place of the whole."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        required(settings, "field")
        self._side = side
        self._path = path_of(settings, "field")
        self._filled = fills_defaults(settings)

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """A tombstone's field is null; an unknown field fails where there is a schema."""
        datum = self._side.of(record)
        if datum.value is None and datum.schema is None:
            return self._side.set(record, NULL)
        if datum.value is not None:
            struct_of(datum, "field extraction")
        found = found_at(datum, self._path)
        if found is None:
            raise DataError(f"Unknown field: {'.'.join(self._path)}")
        if found.value is None and self._filled and found.schema is not None:
            found = Datum(found.schema.default, found.schema)
        return self._side.set(record, found)


class HoistField:
    """Wraps the whole into a struct, or a map, of one field."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._field = required(settings, "field")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Null as well: the field is null then."""
        datum = self._side.of(record)
        schema = None if datum.schema is None else struct([(self._field, datum.schema)])
        return self._side.set(record, Datum({self._field: datum.value}, schema))


class Flatten:
    """Brings nested fields to the top, under names with a delimiter; arrays stay."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._delimiter = settings.get("delimiter", ".")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Tombstones stay."""
        datum = self._side.of(record)
        if datum.value is None:
            return record
        value = struct_of(datum, "flattening")
        if datum.schema is None:
            return self._side.set(record, Datum(dict(self._plain(value, ""))))
        schema = datum.schema
        fields, values = [], {}
        for name, kind, each in self._nested(schema, value, "", may_be_null=False):
            fields.append(Field(name, kind))
            values[name] = each
        flat = schema.but(fields=tuple(fields))
        return self._side.set(record, Datum(values, flat))

    def _plain(self, value: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
        for name, each in value.items():
            if isinstance(each, dict):
                yield from self._plain(each, f"{prefix}{name}{self._delimiter}")
            else:
                yield f"{prefix}{name}", each

    def _nested(
        self, schema: Schema, value: object, prefix: str, *, may_be_null: bool
    ) -> Iterator[tuple[str, Schema, object]]:
        for field in schema.fields:
            each = value.get(field.name) if isinstance(value, dict) else None
            name = f"{prefix}{field.name}"
            nullable = may_be_null or field.schema.optional
            if field.schema.kind is Kind.STRUCT:
                deeper = f"{name}{self._delimiter}"
                yield from self._nested(field.schema, each, deeper, may_be_null=nullable)
            else:
                kind = field.schema.but(optional=nullable)
                yield name, kind, kind.default if each is None and isinstance(value, dict) else each
