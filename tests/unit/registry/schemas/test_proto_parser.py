"""A .proto becomes the descriptor that protoc would make of it."""

import pytest
from google.protobuf import descriptor_pb2 as pb
from google.protobuf import struct_pb2, timestamp_pb2, type_pb2

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_files import load
from moldau.registry.schemas.proto_parser import map_entry_name, parse_proto
from moldau.registry.schemas.proto_text import proto_text


@pytest.mark.parametrize("module", [struct_pb2, timestamp_pb2, type_pb2])
def test_googles_own_files_are_read_as_protoc_read_them(module: object) -> None:
    compiled = pb.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(compiled)  # type: ignore[attr-defined]
    read = load(proto_text(compiled), {}).resolved
    for file in (compiled, read):
        for name in ("name", "options", "syntax"):
            file.ClearField(name)
        _forget_json_names(file)
    assert read == compiled


def _forget_json_names(file: pb.FileDescriptorProto) -> None:
    waiting = list(file.message_type)
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        message.ClearField("extension_range")
        for field in message.field:
            field.ClearField("json_name")


def test_maps_and_optional_fields_are_what_they_stand_for() -> None:
    file = parse_proto(
        'syntax = "proto3"; message M { map<string, int32> by_name = 1; optional int32 x = 2; }'
    )
    (message,) = file.message_type
    (entry,) = message.nested_type
    assert (entry.name, entry.options.map_entry) == ("ByNameEntry", True)
    assert message.field[0].label == pb.FieldDescriptorProto.LABEL_REPEATED
    assert message.field[1].proto3_optional
    assert message.oneof_decl[message.field[1].oneof_index].name == "_x"
    assert map_entry_name("a_b2c") == "AB2cEntry"


@pytest.mark.parametrize(
    "text",
    [
        "message",
        "message A",
        "message A {",
        "message A { string x; }",
        "message A { string x = 0; }",
        "message A { string x = 536870912; }",
        "message A { string x = 1 }",
        "message A { string a.b = 1; }",
        'syntax = "proto4";',
        'edition = "2023";',
        "nonsense {}",
        "enum E { A = 3000000000; }",
        "message A { reserved 5 to 2; }",
        "message A { reserved; }",
        "service S { rpc X (A); }",
        "message A { string x = 1 [default]; }",
        "option java_multiple_files = 7;",
        "option (a) = {{{{;",
        "import 7;",
        "message A { oneof x { string y = 1; }",
    ],
)
def test_what_is_no_proto_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchema):
        parse_proto(text)


def test_words_of_the_language_may_be_names() -> None:
    file = parse_proto('syntax = "proto3"; message M { string message = 1; int32 enum = 2; }')
    assert [each.name for each in file.message_type[0].field] == ["message", "enum"]
