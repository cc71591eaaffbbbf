"""Messages as structs, also those that nobody at Connect wrote."""

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from moldau.connect.converters.protobuf_reading import schema_of_message
from moldau.connect.data.schema import Kind
from moldau.connect.errors import DataError


def message(*fields: tuple[str, int, str]) -> Descriptor:
    file = FileDescriptorProto(name="f", syntax="proto3")
    declared = file.message_type.add(name="M")
    for number, (name, kind, type_name) in enumerate(fields, 1):
        field = declared.field.add(name=name, number=number, type=kind, label=1)
        if type_name:
            field.type_name = type_name
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    found: Descriptor = pool.FindMessageTypeByName("M")
    return found


def test_every_kind_of_number_has_its_counterpart_and_keeps_its_place() -> None:
    numbers = {"u32": 13, "s32": 17, "u64": 4, "fixed": 7, "f": 2}
    found = schema_of_message(
        message(*((name, kind, "") for name, kind in numbers.items())), unwraps=False
    )
    kinds = {each.name: each.schema.kind for each in found.fields}
    assert kinds == {
        "u32": Kind.INT64,
        "s32": Kind.INT32,
        "u64": Kind.INT64,
        "fixed": Kind.INT64,
        "f": Kind.FLOAT32,
    }
    tags = [each.schema.parameters["io.confluent.connect.protobuf.Tag"] for each in found.fields]
    assert tags == ["1", "2", "3", "4", "5"]


def test_a_message_that_holds_itself_is_refused() -> None:
    with pytest.raises(DataError, match="M holds itself"):
        schema_of_message(message(("m", 11, ".M")), unwraps=False)
