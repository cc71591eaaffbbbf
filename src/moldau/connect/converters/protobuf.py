"""ProtobufConverter: values in Protocol Buffers, their schemas in a registry."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from operator import attrgetter

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from moldau.client.registry import Schema as RegisteredSchema
from moldau.client.registry import SubjectName, body_of, header_for, schema_id_of
from moldau.client.serdes.described import add_file, file_of, message_of
from moldau.client.serdes.protobuf import read_indexes, write_indexes
from moldau.connect.config.values import flag
from moldau.connect.converters.names import valid_name
from moldau.connect.converters.per_schema import PerSchema
from moldau.connect.converters.protobuf_reading import (
    WRAPPED,
    in_union,
    schema_of_message,
    true_unions,
    union_name,
)
from moldau.connect.converters.protobuf_schemas import UNION, Nullables, file_of_schema
from moldau.connect.converters.protobuf_text import proto_text
from moldau.connect.converters.registered import registry_errors, registry_of
from moldau.connect.data.logical import EPOCH, plain_number, scaled, unscaled_bytes
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.connect.errors import DataError

_FIRST = [0]
_WRAPPED_VALUE = attrgetter("value")
_LONG_MAX, _LONG_SPAN = 1 << 63, 1 << 64
Written = Callable[[object], bytes]


class ProtobufConverter:
    """`optional.for.nullables` and `wrapper.for.nullables` keep nulls, which are zeros else."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        self._registry = registry_of(settings)
        self._is_key = is_key
        self._nullables = Nullables(
            flag(settings, "optional.for.nullables", default=False),
            flag(settings, "wrapper.for.nullables", default=False),
        )
        self._writers = PerSchema(self._writer)
        self._read: dict[tuple[int, bytes], tuple[type[Message], Schema]] = {}

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """A tombstone stays one."""
        if datum.value is None:
            return None
        if datum.schema is None:
            raise DataError("Protobuf needs values with a schema: those of plain JSON have none")
        with registry_errors(f"Failed to serialize Protobuf data from topic {topic}"):
            return self._writers.of(topic, datum.schema)(datum.value)

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """The value with the schema that its message has."""
        if data is None:
            return NULL
        with registry_errors(f"Failed to deserialize data for topic {topic} to Protobuf"):
            body = body_of(data)
            indexes, size = read_indexes(body)
            place = schema_id_of(data), body[:size]
            if place not in self._read:
                found = message_of(file_of(place[0], self._registry), indexes)
                schema = schema_of_message(found, unwraps=self._nullables.as_wrapper)
                self._read[place] = GetMessageClass(found), schema
            kind, schema = self._read[place]
            try:
                return Datum(self._value(kind.FromString(body[size:])), schema)
            except DecodeError as error:
                raise ValueError(f"no {kind.DESCRIPTOR.name}: {error}") from error

    def _writer(self, topic: str, schema: Schema) -> Written:
        file = file_of_schema(schema, self._nullables)
        subject = SubjectName.TOPIC.of(topic, is_key=self._is_key)
        registered = RegisteredSchema(proto_text(file), "PROTOBUF")
        header = header_for(self._registry, subject, registered) + write_indexes(_FIRST)
        pool = DescriptorPool()
        add_file(pool, file, set())
        first = pool.FindFileByName(file.name).message_types_by_name[file.message_type[0].name]
        kind = GetMessageClass(first)

        def write(value: object) -> bytes:
            message = kind()
            try:
                fill(message, schema, value)
            except (TypeError, KeyError, AttributeError) as error:
                raise DataError(f"no value of its schema: {error}") from error
            data: bytes = message.SerializeToString()
            return header + data

        return write

    def _value(self, message: Message) -> dict[str, object]:
        found: dict[str, object] = {}
        fields = message.DESCRIPTOR.fields_by_name
        for union in true_unions(message.DESCRIPTOR):
            name = message.WhichOneof(union.name)
            chosen = None
            if name is not None:
                chosen = {name: self._single(fields[name], getattr(message, name))}
                chosen = {**dict.fromkeys(each.name for each in union.fields), **chosen}
            found[union_name(union)] = chosen
        for field in message.DESCRIPTOR.fields:
            if not in_union(field):
                found[field.name] = self._field(message, field)
        return found

    def _field(self, message: Message, field: FieldDescriptor) -> object:
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            inner = field.message_type.fields_by_name["value"]
            return {key: self._single(inner, value[key]) for key in value}
        if field.is_repeated:
            return [self._single(field, each) for each in value]
        if field.has_presence and not message.HasField(field.name):
            return None
        return self._single(field, value)

    def _single(self, field: FieldDescriptor, value: object) -> object:
        if field.type == FieldDescriptor.TYPE_ENUM:
            known = field.enum_type.values_by_number.get(value)
            return str(value) if known is None else known.name
        if field.message_type is None:
            is_large = isinstance(value, int) and value >= _LONG_MAX
            return value - _LONG_SPAN if is_large and isinstance(value, int) else value
        full = field.message_type.full_name
        if full in _READERS:
            return _READERS[full](value)
        if self._nullables.as_wrapper and full in WRAPPED:
            return _WRAPPED_VALUE(value)
        assert isinstance(value, Message), "what else has a message's type is a message"
        return self._value(value)


def fill(message: Message, schema: Schema, value: object) -> None:
    """Set the fields of a message that are not null."""
    if not isinstance(value, dict):
        raise DataError(f"a struct, and not {value!r}")
    for each in schema.fields:
        one = value.get(each.name)
        if one is None:
            continue
        if (each.schema.name or "").startswith(UNION):
            fill(message, each.schema, one)
        else:
            _set(message, valid_name(each.name), each.schema, one)


def _set(message: Message, name: str, schema: Schema, value: object) -> None:
    target = getattr(message, name)
    if schema.kind is Kind.ARRAY:
        assert schema.value is not None, "an array says what its elements are"
        assert isinstance(value, list), f"a list, and not {value!r}"
        for each in value:
            if each is None:
                raise DataError(f"{name}: Protobuf's lists hold no nulls")
            if schema.value.kind is Kind.STRUCT or schema.value.name in _WRITERS:
                _put(target.add(), schema.value, each)
            else:
                target.append(each)
    elif schema.kind is Kind.MAP:
        assert schema.value is not None, "a map says what its values are"
        assert isinstance(value, dict), f"a map, and not {value!r}"
        for key, each in value.items():
            if schema.value.kind is Kind.STRUCT or schema.value.name in _WRITERS:
                _put(target[key], schema.value, each)
            else:
                target[key] = each
    elif schema.kind is Kind.STRUCT or schema.name in _WRITERS:
        target.SetInParent()
        _put(target, schema, value)
    elif isinstance(target, Message):  # a wrapper
        target.SetInParent()
        target.MergeFrom(type(target)(value=value))
    else:
        setattr(message, name, value)


def _put(message: Message, schema: Schema, value: object) -> None:
    if schema.name in _WRITERS:
        message.MergeFrom(type(message)(**_WRITERS[schema.name](schema, value)))
    else:
        fill(message, schema, value)


def _decimal(schema: Schema, value: object) -> dict[str, object]:
    if not isinstance(value, Decimal):
        raise DataError(f"{value!r} is no Decimal")
    precision = len(value.as_tuple().digits)
    data = unscaled_bytes(value, schema.scale)
    return {"value": data, "precision": precision, "scale": schema.scale}


def _date(schema: Schema, value: object) -> dict[str, object]:
    day = (EPOCH + dt.timedelta(days=plain_number(schema, value))).date()
    return {"year": day.year, "month": day.month, "day": day.day}


def _time(schema: Schema, value: object) -> dict[str, object]:
    seconds, ms = divmod(plain_number(schema, value), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return {"hours": hours, "minutes": minutes, "seconds": seconds, "nanos": ms * 1_000_000}


def _timestamp(schema: Schema, value: object) -> dict[str, object]:
    seconds, ms = divmod(plain_number(schema, value), 1000)
    return {"seconds": seconds, "nanos": ms * 1_000_000}


_WRITERS: dict[str | None, Callable[[Schema, object], dict[str, object]]] = {
    DECIMAL: _decimal,
    DATE: _date,
    TIME: _time,
    TIMESTAMP: _timestamp,
}
_READERS: dict[str, Callable[..., object]] = {
    "confluent.type.Decimal": lambda of: scaled(of.value, of.scale),
    "google.type.Date": lambda of: dt.date(of.year, of.month, of.day),
    "google.type.TimeOfDay": lambda of: dt.time(of.hours, of.minutes, of.seconds, of.nanos // 1000),
    "google.protobuf.Timestamp": lambda of: (
        EPOCH + dt.timedelta(seconds=of.seconds, microseconds=of.nanos // 1000)
    ),
}
