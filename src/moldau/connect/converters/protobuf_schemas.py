"""Connect's schemas as files of Protocol Buffers, as Confluent's ProtobufData writes them."""

from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorProto as File

from moldau.connect.converters.names import valid_name
from moldau.connect.converters.protobuf_options import note
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Kind, Schema
from moldau.connect.errors import DataError

_PREFIX = "io.confluent.connect.protobuf."
TAG, UNION, ENUM = f"{_PREFIX}Tag", f"{_PREFIX}Union.", f"{_PREFIX}Enum"
PRECISION = "connect.decimal.precision"
META_FILE = "confluent/meta.proto"
_FILE = "connect.proto"
_P = FieldDescriptorProto
_PLAIN = {
    Kind.INT8: _P.TYPE_INT32,
    Kind.INT16: _P.TYPE_INT32,
    Kind.INT32: _P.TYPE_INT32,
    Kind.INT64: _P.TYPE_INT64,
    Kind.FLOAT32: _P.TYPE_FLOAT,
    Kind.FLOAT64: _P.TYPE_DOUBLE,
    Kind.BOOLEAN: _P.TYPE_BOOL,
    Kind.STRING: _P.TYPE_STRING,
    Kind.BYTES: _P.TYPE_BYTES,
}
LOGICAL = {
    DECIMAL: ("confluent.type.Decimal", "confluent/type/decimal.proto"),
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
_WRAPPERS = {
    Kind.INT8: "Int32Value",
    Kind.INT16: "Int32Value",
    Kind.INT32: "Int32Value",
    Kind.INT64: "Int64Value",
    Kind.FLOAT32: "FloatValue",
    Kind.FLOAT64: "DoubleValue",
    Kind.BOOLEAN: "BoolValue",
    Kind.STRING: "StringValue",
    Kind.BYTES: "BytesValue",
}
_WRAPPER_FILE = "google/protobuf/wrappers.proto"
_KEYS = frozenset({Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.BOOLEAN, Kind.STRING})


@dataclass(frozen=True, slots=True)
class Nullables:
    """How a field that may be null is declared; without either null becomes the type's zero."""

    as_optional: bool = False
    as_wrapper: bool = False


def file_of_schema(schema: Schema, nullables: Nullables) -> File:
    """A file whose first message holds the values of a schema."""
    if schema.kind is not Kind.STRUCT:
        raise DataError(f"Protobuf needs values with fields, not {schema.kind.value}")
    package, _, name = (schema.name or "ConnectDefault1").rpartition(".")
    package = ".".join(valid_name(each) for each in package.split(".") if each)
    file = File(name=_FILE, package=package, syntax="proto3")
    message = file.message_type.add(name=valid_name(name))
    _Declaring(file, nullables).fields(message, f".{package}.{message.name}", schema.fields)
    return file


@dataclass(slots=True)
class _Declaring:
    file: File
    nullables: Nullables
    messages: dict[str, tuple[str, Schema]] = field(default_factory=dict)
    """By the short name of a struct: where it was declared, since it is declared once."""
    unnamed: int = 1

    def fields(self, message: DescriptorProto, place: str, fields: tuple[Field, ...]) -> None:
        """Declare what a struct has; members of a union are fields of the struct itself."""
        place = place.replace("..", ".")
        alone: list[str] = []
        used = {int(each.schema.parameters.get(TAG, 0)) for each in _members(fields)}
        for each in fields:
            if (each.schema.name or "").startswith(UNION):
                name = (each.schema.name or "").removeprefix(UNION)
                message.oneof_decl.add(name=valid_name(name))
                index = len(message.oneof_decl) - 1
                for member in each.schema.fields:
                    found = self._field(message, place, member, used)
                    found.oneof_index = index
            else:
                found = self._field(message, place, each, used)
                if found.proto3_optional:
                    alone.append(found.name)
        for name in alone:  # those that stand for one field come after the true ones
            message.oneof_decl.add(name=f"_{name}")
            index = len(message.oneof_decl) - 1
            next(each for each in message.field if each.name == name).oneof_index = index

    def _field(
        self, message: DescriptorProto, place: str, given: Field, used: set[int]
    ) -> FieldDescriptorProto:
        schema, number = given.schema, int(given.schema.parameters.get(TAG, 0))
        if not number:
            number = next(each for each in range(1, 1 << 29) if each not in used)
            used.add(number)
        found = message.field.add(
            name=valid_name(given.name), number=number, label=_P.LABEL_OPTIONAL
        )
        if schema.kind is Kind.ARRAY:
            assert schema.value is not None, "an array says what its elements are"
            if schema.value.kind in (Kind.ARRAY, Kind.MAP):
                raise DataError(f"{given.name}: Protobuf has no lists of lists or maps")
            found.label = _P.LABEL_REPEATED
            self._type(message, found, place, schema.value.but(optional=False))
            return found
        if schema.kind is Kind.MAP:
            self._map(message, found, place, schema)
            return found
        self._type(message, found, place, schema)
        is_message = found.type == _P.TYPE_MESSAGE
        found.proto3_optional = (
            schema.optional and self.nullables.as_optional and not is_message
        ) or found.proto3_optional
        return found

    def _map(
        self, message: DescriptorProto, found: FieldDescriptorProto, place: str, schema: Schema
    ) -> None:
        assert schema.key is not None, "a map says what its keys are"
        assert schema.value is not None, "a map says what its values are"
        if schema.key.kind not in _KEYS or schema.value.kind in (Kind.ARRAY, Kind.MAP):
            raise DataError(f"{found.name}: Protobuf's maps have plain keys, and no lists or maps")
        name = "".join(part[:1].upper() + part[1:] for part in found.name.split("_")) + "Entry"
        entry = DescriptorProto(name=name)
        entry.options.map_entry = True
        for number, (label, each) in enumerate((("key", schema.key), ("value", schema.value)), 1):
            inner = entry.field.add(name=label, number=number, label=_P.LABEL_OPTIONAL)
            self._type(message, inner, place, each.but(optional=False))
        message.nested_type.append(entry)
        found.label, found.type = _P.LABEL_REPEATED, _P.TYPE_MESSAGE
        found.type_name = f"{place}.{name}"

    def _type(
        self, message: DescriptorProto, found: FieldDescriptorProto, place: str, schema: Schema
    ) -> None:
        if schema.name in LOGICAL:
            self._of_other_file(found, *LOGICAL[schema.name])
            if schema.name == DECIMAL:
                self._note(found, {"precision": schema.parameters.get(PRECISION), **_scale(schema)})
        elif schema.kind is Kind.STRUCT:
            found.type = _P.TYPE_MESSAGE
            found.type_name = self._struct(message, found.name, place, schema)
        elif ENUM in schema.parameters:
            found.type = _P.TYPE_ENUM
            found.type_name = f"{place}.{_enum(message, schema)}"
        elif schema.optional and self.nullables.as_wrapper:
            kind = f"google.protobuf.{_WRAPPERS[schema.kind]}"
            self._of_other_file(found, kind, _WRAPPER_FILE)
        else:
            found.type = _PLAIN[schema.kind]
        if schema.kind in (Kind.INT8, Kind.INT16):
            self._note(found, {"connect.type": schema.kind.value})

    def _struct(self, message: DescriptorProto, field: str, place: str, schema: Schema) -> str:
        if schema.name is None:
            self.unnamed += 1
        name = valid_name((schema.name or f"ConnectDefault{self.unnamed}").rpartition(".")[2])
        name = f"{name}Message" if name == field else name
        if name in self.messages:
            known, before = self.messages[name]
            if before.fields == schema.fields:
                return known
            name = f"{name}{len(self.messages) + 1}"
        full = f"{place}.{name}"
        self.messages[name] = full, schema
        inner = DescriptorProto(name=name)
        self.fields(inner, full, schema.fields)
        message.nested_type.append(inner)
        return full

    def _of_other_file(self, found: FieldDescriptorProto, kind: str, file: str) -> None:
        found.type, found.type_name = _P.TYPE_MESSAGE, f".{kind}"
        self._import(file)

    def _note(self, found: FieldDescriptorProto, noted: dict[str, str | None]) -> None:
        known = {name: text for name, text in noted.items() if text is not None}
        note(found.options, known)
        self._import(META_FILE)

    def _import(self, file: str) -> None:
        if file not in self.file.dependency:
            self.file.dependency.append(file)


def _scale(schema: Schema) -> dict[str, str | None]:
    return {"scale": str(schema.scale)}


def _members(fields: tuple[Field, ...]) -> list[Field]:
    """All fields, those of unions instead of the unions."""
    found: list[Field] = []
    for each in fields:
        is_union = (each.schema.name or "").startswith(UNION)
        found += each.schema.fields if is_union else [each]
    return found


def _enum(message: DescriptorProto, schema: Schema) -> str:
    name = valid_name(schema.parameters[ENUM])
    if all(each.name != name for each in message.enum_type):
        declared = message.enum_type.add(name=name)
        for symbol, number in schema.parameters.items():
            if symbol.startswith(f"{ENUM}."):
                declared.value.add(name=symbol.removeprefix(f"{ENUM}."), number=int(number))
    return name
