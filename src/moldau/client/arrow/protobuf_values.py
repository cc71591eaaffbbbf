"""Columns of values in Protocol Buffers, alone or with the header of a schema registry."""

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from moldau.client.registry import Registry
from moldau.client.serdes.protobuf import ProtobufSerde

_TYPES = {
    FieldDescriptor.CPPTYPE_INT32: pa.int32(),
    FieldDescriptor.CPPTYPE_INT64: pa.int64(),
    FieldDescriptor.CPPTYPE_UINT32: pa.uint32(),
    FieldDescriptor.CPPTYPE_UINT64: pa.uint64(),
    FieldDescriptor.CPPTYPE_DOUBLE: pa.float64(),
    FieldDescriptor.CPPTYPE_FLOAT: pa.float32(),
    FieldDescriptor.CPPTYPE_BOOL: pa.bool_(),
    FieldDescriptor.CPPTYPE_ENUM: pa.int32(),
}


class Protobuf:
    """Messages of one generated class; fields that know whether they are set may be null.

    With a registry, values have its header; what is encoded is registered under `subject` with
    the text of the `.proto`.
    """

    def __init__(
        self,
        message: type[Message],
        *,
        registry: Registry | None = None,
        subject: str | None = None,
        proto: str | None = None,
    ) -> None:
        self._message = message
        self._rows = ProtobufSerde(message, registry=registry, subject=subject, proto=proto)
        self.type = _struct_type(message.DESCRIPTOR)

    @classmethod
    def of_descriptors(
        cls, descriptors: bytes, message: str, *, registry: Registry | None = None
    ) -> "Protobuf":
        """A message of a set of descriptors, as `protoc --descriptor_set_out` writes it."""
        pool = DescriptorPool()
        for file in FileDescriptorSet.FromString(descriptors).file:
            pool.Add(file)
        try:
            found = pool.FindMessageTypeByName(message)
        except KeyError as error:
            raise ValueError(f"the descriptors have no message {message!r}") from error
        return cls(GetMessageClass(found), registry=registry)

    def decode(self, values: pa.Array) -> pa.Array:
        """A column of messages to a column of structs."""
        decoded = []
        for row, value in enumerate(values.to_pylist()):
            try:
                decoded.append(None if value is None else _as_dict(self._rows.deserialize(value)))
            except ValueError as error:
                raise ValueError(f"row {row} is no such message: {error}") from error
        return pa.array(decoded, self.type)

    def encode(self, values: pa.Array) -> pa.Array:
        """A column of structs to a column of messages."""
        self._rows.register()
        encoded = [
            None if row is None else self._rows.serialize(self._message(**_without_nulls(row)))
            for row in values.to_pylist()
        ]
        return pa.array(encoded, pa.binary())


def _struct_type(descriptor: Descriptor) -> pa.DataType:
    return pa.struct([(field.name, _field_type(field)) for field in descriptor.fields])


def _field_type(field: FieldDescriptor) -> pa.DataType:
    if _is_map(field):
        key, value = field.message_type.fields
        return pa.map_(_field_type(key), _field_type(value))
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        kind = _struct_type(field.message_type)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        kind = pa.binary() if field.type == FieldDescriptor.TYPE_BYTES else pa.string()
    else:
        kind = _TYPES[field.cpp_type]
    return pa.list_(kind) if field.is_repeated else kind


def _is_map(field: FieldDescriptor) -> bool:
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    return bool(is_message and field.message_type.GetOptions().map_entry)


def _as_dict(message: Message) -> dict[str, object]:
    made: dict[str, object] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        is_message = field.type == FieldDescriptor.TYPE_MESSAGE
        if _is_map(field):
            made[field.name] = [(key, _plain(each)) for key, each in value.items()]
        elif field.is_repeated:
            made[field.name] = [_plain(each) for each in value]
        elif field.has_presence and not message.HasField(field.name):
            made[field.name] = None
        else:
            made[field.name] = _as_dict(value) if is_message else value
    return made


def _plain(value: object) -> object:
    return _as_dict(value) if isinstance(value, Message) else value


def _without_nulls(row: dict[str, object]) -> dict[str, object]:
    """What a message is made of: a field that is null is left out."""
    kept: dict[str, object] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            kept[name] = _without_nulls(value)
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            kept[name] = dict(value)
        elif isinstance(value, list):
            is_messages = bool(value) and isinstance(value[0], dict)
            kept[name] = [_without_nulls(each) for each in value] if is_messages else value
        elif value is not None:
            kept[name] = value
    return kept
