"""Protobuf files with those that they import, checked by Google's descriptor pool."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from google.protobuf import descriptor_pb2 as pb
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_parser import parse_proto

_ROOT = "default"
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_GOOGLE = {
    "google/protobuf": (
        *("any", "api", "descriptor", "duration", "empty", "field_mask", "source_context"),
        *("struct", "timestamp", "type", "wrappers"),
    ),
    # Of another package, which need not be there.
    "google/type": (
        *("calendar_period", "color", "date", "datetime", "dayofweek", "decimal", "expr"),
        *("fraction", "interval", "latlng", "money", "month", "phone_number", "postal_address"),
        *("quaternion", "timeofday"),
    ),
}
# Files that every client of Confluent's has, besides those of Google's package.
_CONFLUENT = {
    "confluent/type/decimal.proto": """
        syntax = "proto3"; package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }""",
    "confluent/meta.proto": """
        syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
        message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }""",
}


@dataclass(slots=True)
class ProtoFile:
    """A file, and those that it refers to by the names of its imports."""

    written: pb.FileDescriptorProto
    """With names of types as they stand in the text."""
    others: Mapping[str, "ProtoFile"] = field(default_factory=dict)
    resolved: pb.FileDescriptorProto = field(init=False)
    """With full names of types."""

    def __post_init__(self) -> None:
        pool = DescriptorPool()
        known = dict(self.all_others())
        added: set[str] = set()
        for name in self.written.dependency:
            _add(pool, name, known, added)
        root = pb.FileDescriptorProto()
        root.CopyFrom(self.written)
        root.name = _ROOT
        try:
            pool.AddSerializedFile(root.SerializeToString())
            made = pool.FindFileByName(_ROOT)
        except (TypeError, ValueError, KeyError) as error:
            raise InvalidSchema(_reason(error)) from error
        self.resolved = pb.FileDescriptorProto()
        made.CopyToProto(self.resolved)

    def all_others(self) -> "list[tuple[str, ProtoFile]]":
        """Every file that is referred to, directly or not, by its name."""
        found: dict[str, ProtoFile] = {}
        waiting = list(self.others.items())
        while waiting:
            name, each = waiting.pop()
            if name not in found:
                found[name] = each
                waiting += each.others.items()
        return list(found.items())


def load(text: str, others: Mapping[str, ProtoFile]) -> ProtoFile:
    """A file from its text, or from a descriptor in base64, as some clients send it."""
    if _BASE64.fullmatch(text):
        try:
            written = pb.FileDescriptorProto.FromString(base64.b64decode(text, validate=False))
        except (binascii.Error, DecodeError) as error:
            raise InvalidSchema("neither a .proto nor a descriptor in base64") from error
        written.ClearField("name")
        written.ClearField("source_code_info")
    else:
        written = parse_proto(text)
    return ProtoFile(written, others)


def serialized(file: ProtoFile) -> str:
    """The descriptor in base64."""
    return base64.b64encode(file.resolved.SerializeToString()).decode()


def descriptor_set(text: str) -> tuple[bytes, str]:
    """What `protoc --include_imports --descriptor_set_out` writes, and the first message's name.

    A file may import those that need no reference.
    """
    file = load(text, {}).resolved
    if not file.message_type:
        raise InvalidSchema("it has no message")
    imported: dict[str, pb.FileDescriptorProto] = {}
    for name in file.dependency:
        _add_builtin(imported, name)
    found = pb.FileDescriptorSet(file=[*imported.values(), file])
    first = file.message_type[0].name
    return found.SerializeToString(), f"{file.package}.{first}" if file.package else first


def _add_builtin(found: dict[str, pb.FileDescriptorProto], name: str) -> None:
    """A file after those that it imports."""
    file = builtin(name)
    if file is None or name in found:
        return
    for each in file.dependency:
        _add_builtin(found, each)
    found[name] = pb.FileDescriptorProto()
    found[name].CopyFrom(file)
    found[name].name = name


def _add(pool: DescriptorPool, name: str, known: dict[str, ProtoFile], added: set[str]) -> None:
    if name in added:
        return
    added.add(name)
    file = known[name].written if name in known else builtin(name)
    if file is None:
        raise InvalidSchema(f'import "{name}": there is no reference of this name')
    for each in file.dependency:
        _add(pool, each, known, added)
    copy = pb.FileDescriptorProto()
    copy.CopyFrom(file)
    copy.name = name
    try:
        pool.AddSerializedFile(copy.SerializeToString())
    except TypeError as error:
        raise InvalidSchema(_reason(error)) from error


@cache
def builtin(name: str) -> pb.FileDescriptorProto | None:
    """A file that can be imported without a reference; None if it is none of them."""
    if name in _CONFLUENT:
        return parse_proto(_CONFLUENT[name])
    folder, _, file = name.rpartition("/")
    short = file.removesuffix(".proto")
    if file == short or short not in _GOOGLE.get(folder, ()):
        return None
    found = pb.FileDescriptorProto()
    try:
        import_module(f"{folder.replace('/', '.')}.{short}_pb2").DESCRIPTOR.CopyToProto(found)
    except ImportError:
        message = f'import "{name}": pip install googleapis-common-protos where the registry runs'
        raise InvalidSchema(message) from None
    return found


def _reason(error: Exception) -> str:
    text = str(error.args[0]) if error.args else str(error)
    return " ".join(text.split())
