"""Protocol Buffers to columns and back, alone and with a registry."""

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from moldau.client.arrow.protobuf_values import Protobuf
from moldau.client.registry import Registry, schema_id_of
from unit.client.registry_server import registry_server

FIELD = descriptor_pb2.FieldDescriptorProto


def order_message() -> type[Message]:
    """message Order { int64 id; optional string note; repeated bytes tags; Place place; }."""
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=FIELD.TYPE_INT64, label=FIELD.LABEL_OPTIONAL)
    order.field.add(
        name="note",
        number=2,
        type=FIELD.TYPE_STRING,
        label=FIELD.LABEL_OPTIONAL,
        proto3_optional=True,
        oneof_index=0,
    )
    order.oneof_decl.add(name="_note")
    order.field.add(name="tags", number=3, type=FIELD.TYPE_BYTES, label=FIELD.LABEL_REPEATED)
    order.field.add(
        name="place",
        number=4,
        type=FIELD.TYPE_MESSAGE,
        type_name=".shop.Place",
        label=FIELD.LABEL_OPTIONAL,
    )
    order.field.add(
        name="counts",
        number=5,
        type=FIELD.TYPE_MESSAGE,
        type_name=".shop.Order.CountsEntry",
        label=FIELD.LABEL_REPEATED,
    )
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=FIELD.TYPE_STRING, label=FIELD.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=FIELD.TYPE_INT32, label=FIELD.LABEL_OPTIONAL)
    place = file.message_type.add(name="Place")
    place.field.add(name="x", number=1, type=FIELD.TYPE_DOUBLE, label=FIELD.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made: type[Message] = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    return made


ORDER = order_message()
ROWS: list[dict[str, object] | None] = [
    {"id": 1, "note": "n", "tags": [b"a", b"b"], "place": {"x": 0.5}, "counts": [("k", 2)]},
    None,
    {"id": 0, "note": None, "tags": [], "place": None, "counts": []},
]


def test_what_is_encoded_is_decoded() -> None:
    form = Protobuf(ORDER)
    assert form.type.field("counts").type == pa.map_(pa.string(), pa.int32())
    encoded = form.encode(pa.array(ROWS, form.type))
    assert ORDER.FromString(encoded[0].as_py()).note == "n"
    assert form.decode(encoded).to_pylist() == ROWS


def test_bytes_that_are_no_message_are_an_error_that_says_where() -> None:
    with pytest.raises(ValueError, match="row 1 is no such message"):
        Protobuf(ORDER).decode(pa.array([b"", b"\xff"]))


def test_a_registry_puts_its_header_before_messages() -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        form = Protobuf(ORDER, registry=registry, subject="s", proto="message Order {}")
        encoded = form.encode(pa.array(ROWS, form.type))
        assert schema_id_of(encoded[0].as_py()) == 1
        assert server.schemas == [{"schema": "message Order {}", "schemaType": "PROTOBUF"}]
        assert form.decode(encoded).to_pylist() == ROWS
        with pytest.raises(ValueError, match=r"row 0 .*its schema has no message \[1\]"):
            form.decode(pa.array([b"\0\0\0\0\1\x02\x02"]))
        with pytest.raises(ValueError, match="a subject is needed"):
            Protobuf(ORDER, registry=registry).encode(encoded)


def test_a_message_is_found_in_a_set_of_descriptors() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="m.proto", package="p", syntax="proto3")
    meter = file.message_type.add(name="Meter")
    meter.field.add(name="id", number=1, type=FIELD.TYPE_UINT32, label=FIELD.LABEL_OPTIONAL)
    descriptors = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    found = Protobuf.of_descriptors(descriptors, "p.Meter")
    assert found.decode(pa.array([b"\x08\x07"], pa.binary())).to_pylist() == [{"id": 7}]
    with pytest.raises(ValueError, match="have no message 'Meter'"):
        Protobuf.of_descriptors(descriptors, "Meter")
