"""The text of a `.proto`, as registries keep it and people read it."""

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

_P = FieldDescriptorProto
_INDENT = "  "
_NAMES = {
    _P.TYPE_INT32: "int32",
    _P.TYPE_INT64: "int64",
    _P.TYPE_FLOAT: "float",
    _P.TYPE_DOUBLE: "double",
    _P.TYPE_BOOL: "bool",
    _P.TYPE_STRING: "string",
    _P.TYPE_BYTES: "bytes",
}


def proto_text(file: FileDescriptorProto) -> str:
    """A file of messages that were made of Connect's schemas."""
    lines = ['syntax = "proto3";']
    if file.package:
        lines += [f"package {file.package};"]
    lines += ["", *(f'import "{each}";' for each in sorted(file.dependency))]
    for message in file.message_type:
        lines += ["", *_message(message)]
    return "\n".join(lines) + "\n"


def _message(message: DescriptorProto) -> Iterator[str]:
    entries = {each.name: each for each in message.nested_type if each.options.map_entry}
    yield f"message {message.name} {{"
    for field in message.field:
        if not _is_in_union(field):
            yield f"{_INDENT}{_field(field, entries)}"
    for index, union in enumerate(message.oneof_decl):
        members = [
            each for each in message.field if _is_in_union(each) and each.oneof_index == index
        ]
        if members:
            yield f"{_INDENT}oneof {union.name} {{"
            yield from (f"{_INDENT * 2}{_field(each, entries)}" for each in members)
            yield f"{_INDENT}}}"
    for inner in message.nested_type:
        if inner.name not in entries:
            yield from ("", *(f"{_INDENT}{line}" if line else "" for line in _message(inner)))
    for enum in message.enum_type:
        yield from ("", *(f"{_INDENT}{line}" for line in _enum(enum)))
    yield "}"


def _is_in_union(field: FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _field(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        key, value = map(_type, entry.field)
        declared = f"map<{key}, {value}>"
    else:
        repeated = "repeated " if field.label == _P.LABEL_REPEATED else ""
        declared = f"{'optional ' if field.proto3_optional else repeated}{_type(field)}"
    noted = ", ".join(
        f"({each.name[0].name_part}) = {{ {each.aggregate_value} }}"
        for each in field.options.uninterpreted_option
    )
    return f"{declared} {field.name} = {field.number}{f' [{noted}]' if noted else ''};"


def _type(field: FieldDescriptorProto) -> str:
    return _NAMES.get(field.type) or field.type_name


def _enum(enum: EnumDescriptorProto) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    yield from (f"{_INDENT}{each.name} = {each.number};" for each in enum.value)
    yield "}"
