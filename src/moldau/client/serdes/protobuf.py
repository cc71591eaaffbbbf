"""Values in Protocol Buffers, alone or with the header of a schema registry."""

import base64
from collections.abc import Sequence

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError, Message

from moldau.client.registry import (
    Reference,
    Registry,
    Schema,
    body_of,
    header_for,
    schema_id_of,
)
from moldau.client.serdes.proto_text import indexes_of, message_at

# After the number of the schema, which message of the schema it is: how many indexes, and the
# index in each message around it, in zig-zag. The first message of all is a single zero.
_FIRST_MESSAGE = b"\0"
_PART_BITS = 7
_MORE = 1 << _PART_BITS
_INDEX_COUNT_MAX = 64
# What every registry has; other files that are imported are registered under their names.
_KNOWN_FILES = ("google/protobuf/", "google/type/", "confluent/")


class ProtobufSerde:
    """Messages of one generated class.

    With a registry, values have its header; what is written is registered under `subject` with
    the text of the `.proto`, or without one as the class describes it, together with the files
    that it imports. What is read must be of this message in the schema it names, at any place
    there; its package may be another.
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
        self._registry = registry
        self._subject = subject
        self._proto = proto
        self._name = _name_in_file(message)
        self._header: bytes | None = None
        self._known: set[tuple[int, bytes]] = set()

    def register(self) -> None:
        """Have the schema registered now, not with the first value that is written."""
        self._header_for_writing()

    def serialize(self, value: Message) -> bytes:
        """The bytes of a message."""
        data: bytes = value.SerializeToString()
        return self._header_for_writing() + data

    def deserialize(self, data: bytes) -> Message:
        """The message of these bytes; ValueError if they are none."""
        if self._registry is not None:
            data = self._body(data, self._registry)
        try:
            return self._message.FromString(data)
        except DecodeError as error:
            raise ValueError(f"no {self._name}: {error}") from error

    def _header_for_writing(self) -> bytes:
        if self._header is None:
            if self._registry is None:
                self._header = b""
            else:
                schema, indexes = self._declared(self._registry)
                header = header_for(self._registry, self._subject, schema)
                self._header = header + write_indexes(indexes)
        return self._header

    def _declared(self, registry: Registry) -> tuple[Schema, list[int]]:
        if self._proto is not None:
            return Schema(self._proto, "PROTOBUF"), indexes_of(self._proto, self._name)
        described = self._message.DESCRIPTOR
        return _described(described.file, registry), _place_of(described)

    def _body(self, data: bytes, registry: Registry) -> bytes:
        schema_id, body = schema_id_of(data), body_of(data)
        indexes, size = read_indexes(body)
        place = schema_id, body[:size]
        if place not in self._known:
            found = message_at(registry.schema(schema_id).text, indexes)
            if found != self._name:
                raise ValueError(f"it is the message {found!r} of its schema, not {self._name!r}")
            self._known.add(place)
        return body[size:]


def _described(file: FileDescriptor, registry: Registry) -> Schema:
    """A file as a registry takes it; what it imports is registered, unless the newest is used."""
    references: list[Reference] = []
    for each in file.dependencies if not registry.use_latest else ():
        if not each.name.startswith(_KNOWN_FILES):
            used = _described(each, registry)
            registry.for_writing(each.name, used)
            version = registry.version_of(each.name, used)
            references.append(Reference(each.name, each.name, version))
    text = base64.b64encode(file.serialized_pb).decode()
    return Schema(text, "PROTOBUF", tuple(references))


def _place_of(message: Descriptor) -> list[int]:
    """Where a message is in its file; those that stand for maps do not count."""
    around = message.containing_type
    if around is None:
        names = list(message.file.message_types_by_name)
        return [names.index(message.name)]
    listed = [each.name for each in around.nested_types if not each.GetOptions().map_entry]
    return [*_place_of(around), listed.index(message.name)]


def write_indexes(indexes: Sequence[int]) -> bytes:
    """Which message of a schema it is."""
    if list(indexes) == [0]:
        return _FIRST_MESSAGE
    return b"".join(map(_zig_zag, (len(indexes), *indexes)))


def read_indexes(data: bytes) -> tuple[list[int], int]:
    """Which message of a schema it is, and how many bytes say so."""
    count, position = _read_zig_zag(data, 0)
    if not 0 <= count <= _INDEX_COUNT_MAX:
        raise ValueError("it does not say which message of its schema it is")
    indexes: list[int] = []
    for _ in range(count):
        index, position = _read_zig_zag(data, position)
        indexes.append(index)
    return indexes or [0], position


def _zig_zag(number: int) -> bytes:
    left, written = number << 1, bytearray()
    while left >= _MORE:
        written.append(left % _MORE | _MORE)
        left >>= _PART_BITS
    written.append(left)
    return bytes(written)


def _read_zig_zag(data: bytes, position: int) -> tuple[int, int]:
    number, shift = 0, 0
    while True:
        if position >= len(data) or shift > 4 * _PART_BITS:
            raise ValueError("it does not say which message of its schema it is")
        part = data[position]
        number |= (part % _MORE) << shift
        position, shift = position + 1, shift + _PART_BITS
        if part < _MORE:
            return (number >> 1) ^ -(number & 1), position


def _name_in_file(message: type[Message]) -> str:
    package = message.DESCRIPTOR.file.package
    name: str = message.DESCRIPTOR.full_name
    return name.removeprefix(f"{package}.") if package else name
