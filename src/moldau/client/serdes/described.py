"""Messages of a `.proto` that is known from the registry alone: there is no generated class."""

import base64
from collections.abc import Callable, Sequence
from importlib import import_module

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from moldau.client.registry import SERIALIZED, Registry
from moldau.client.serdes.proto_files import known_file
from moldau.client.serdes.protobuf import read_indexes, write_indexes

_GOOGLE = ("google/protobuf/", "google/type/")
_CONFLUENT = "confluent/"
_PROTO = ".proto"


def message_reader(schema_id: int, registry: Registry) -> Callable[[bytes], str]:
    """How the values of a schema become JSON."""
    file = file_of(schema_id, registry)

    def read(body: bytes) -> str:
        indexes, size = read_indexes(body)
        kind = GetMessageClass(message_of(file, indexes))
        try:
            message = kind.FromString(body[size:])
        except DecodeError as error:
            raise ValueError(f"no {kind.DESCRIPTOR.name} of schema {schema_id}: {error}") from error
        text: str = json_format.MessageToJson(
            message, indent=None, preserving_proto_field_name=True, ensure_ascii=False
        )
        return text

    return read


def message_writer(schema_id: int, registry: Registry) -> Callable[[str], bytes]:
    """How JSON becomes values of a schema: of the first message in it."""
    kind = GetMessageClass(message_of(file_of(schema_id, registry), [0]))

    def write(text: str) -> bytes:
        try:
            message = json_format.Parse(text, kind())
        except json_format.ParseError as error:
            raise ValueError(f"no JSON of {kind.DESCRIPTOR.name}: {error}") from error
        body: bytes = message.SerializeToString()
        return write_indexes([0]) + body

    return write


def file_of(schema_id: int, registry: Registry) -> FileDescriptor:
    """A schema with all that it imports; ValueError if something of that is missing."""
    schema = registry.schema(schema_id, SERIALIZED)
    texts = {name: used.text for name, used in registry.used_by(schema, SERIALIZED)}
    own = f"schema-{schema_id}{_PROTO}"
    pool, added = DescriptorPool(), set[str]()
    try:
        for name, text in {**texts, own: schema.text}.items():
            file = FileDescriptorProto.FromString(base64.b64decode(text))
            file.name = name
            add_file(pool, file, added)
    except (TypeError, ValueError, DecodeError) as error:
        raise ValueError(f"schema {schema_id} cannot be read: {error}") from error
    return pool.FindFileByName(own)


def message_of(file: FileDescriptor, indexes: Sequence[int]) -> Descriptor:
    """A message by its place; those that stand for maps do not count."""
    listed = list(file.message_types_by_name.values())
    found: Descriptor | None = None
    for index in indexes:
        if not 0 <= index < len(listed):
            break
        found = listed[index]
        listed = [each for each in found.nested_types if not each.GetOptions().map_entry]
    else:
        if found is not None:
            return found
    raise ValueError(f"its schema has no message {list(indexes)}")


def add_file(pool: DescriptorPool, file: FileDescriptorProto, added: set[str]) -> None:
    """A file after those that every registry has; what else is Confluent's are options alone."""
    if file.name in added:
        return
    added.add(file.name)
    kept = [each for each in file.dependency if known_file(each) or _is_needed(each)]
    del file.dependency[:]
    file.dependency.extend(kept)
    for name in kept:
        if name not in added and (known_file(name) or name.startswith(_GOOGLE)):
            add_file(pool, known_file(name) or _known(name), added)
    pool.AddSerializedFile(file.SerializeToString())


def _is_needed(name: str) -> bool:
    return not name.startswith(_CONFLUENT)


def _known(name: str) -> FileDescriptorProto:
    folder, _, file = name.rpartition("/")
    short = file.removesuffix(_PROTO)
    if f"{folder}/" not in _GOOGLE or not short.isidentifier():
        raise ValueError(f"no file {name} is known")
    found = FileDescriptorProto()
    try:
        module = import_module(f"{folder.replace('/', '.')}.{short}_pb2")
        module.DESCRIPTOR.CopyToProto(found)
    except ImportError as error:
        raise ValueError(f"no file {name} is known") from error
    return found
