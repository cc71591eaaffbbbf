"""Files that a `.proto` of a registry may import though nobody registers them."""

from collections.abc import Sequence

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

_KINDS = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
}
# Each with one message, whose fields are numbered as they are listed.
_MESSAGES: dict[str, tuple[str, Sequence[str]]] = {
    "confluent/type/decimal.proto": (
        "confluent.type.Decimal",
        ("bytes value", "uint32 precision", "int32 scale"),
    ),
    "google/type/date.proto": (
        "google.type.Date",
        ("int32 year", "int32 month", "int32 day"),
    ),
    "google/type/timeofday.proto": (
        "google.type.TimeOfDay",
        ("int32 hours", "int32 minutes", "int32 seconds", "int32 nanos"),
    ),
}


def known_file(name: str) -> FileDescriptorProto | None:
    """The file of that name, if it is one of them."""
    if name not in _MESSAGES:
        return None
    full, fields = _MESSAGES[name]
    package, _, message = full.rpartition(".")
    file = FileDescriptorProto(name=name, package=package, syntax="proto3")
    declared = file.message_type.add(name=message)
    for number, text in enumerate(fields, 1):
        kind, _, field = text.partition(" ")
        declared.field.add(
            name=field,
            number=number,
            type=_KINDS[kind],
            label=FieldDescriptorProto.LABEL_OPTIONAL,
        )
    return file
