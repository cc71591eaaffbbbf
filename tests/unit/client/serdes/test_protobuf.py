"""Protocol Buffers row by row, alone and with a registry: every message of a schema."""

from collections.abc import Iterator

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.registry import Registry, Schema, put_header
from moldau.client.serdes.protobuf import ProtobufSerde, read_indexes, write_indexes
from unit.client.registry_server import registry_server

PROTO = """syntax = "proto3"; package shop;
message Place { int64 x = 1; }
message Order { int64 x = 1; map<string, int64> m = 2; message Line { int64 x = 1; } }
"""


@pytest.fixture(scope="module")
def classes() -> dict[str, type[Message]]:
    """The messages of PROTO, as a compiler would make them."""
    file = descriptor_pb2.FileDescriptorProto(name="s.proto", package="shop", syntax="proto3")
    order = None
    for name in ("Place", "Order"):
        order = file.message_type.add(name=name)
        order.field.add(name="x", number=1, type=3, label=1)
    assert order is not None
    entry = order.nested_type.add(name="MEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=1)
    entry.field.add(name="value", number=2, type=3, label=1)
    order.field.add(name="m", number=2, type=11, type_name=".shop.Order.MEntry", label=3)
    order.nested_type.add(name="Line").field.add(name="x", number=1, type=3, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("Place", "Order", "Order.Line")
    found = {name: pool.FindMessageTypeByName(f"shop.{name}") for name in names}
    return {name: message_factory.GetMessageClass(each) for name, each in found.items()}


@pytest.fixture
def registry() -> Iterator[Registry]:
    with registry_server() as server:
        yield Registry(server.url)


def test_messages_are_written_and_read_again(classes: dict[str, type[Message]]) -> None:
    serde = ProtobufSerde(classes["Order"])
    order = classes["Order"](x=7, m={"a": 1})
    assert serde.deserialize(serde.serialize(order)) == order
    with pytest.raises(ValueError, match="no Order: "):
        serde.deserialize(b"\xff")


@pytest.mark.parametrize(
    ("name", "indexes"),
    [("Place", b"\0"), ("Order", b"\x02\x02"), ("Order.Line", b"\x04\x02\0")],
)
def test_a_registry_hears_which_message_of_a_schema_it_is(
    classes: dict[str, type[Message]], registry: Registry, name: str, indexes: bytes
) -> None:
    message = classes[name]
    written = ProtobufSerde(message, registry=registry, subject="s", proto=PROTO)
    data = written.serialize(message(x=3))
    assert data == b"\0\0\0\0\1" + indexes + b"\x08\x03"
    assert ProtobufSerde(message, registry=registry).deserialize(data) == message(x=3)


def test_another_message_of_the_schema_is_an_error(
    classes: dict[str, type[Message]], registry: Registry
) -> None:
    written = ProtobufSerde(classes["Order"], registry=registry, subject="s", proto=PROTO)
    data = written.serialize(classes["Order"]())
    with pytest.raises(ValueError, match=r"the message 'Order' of its schema, not 'Order\.Line'"):
        ProtobufSerde(classes["Order.Line"], registry=registry).deserialize(data)
    with pytest.raises(ValueError, match=r"the \.proto has no message 'Order'"):
        ProtobufSerde(
            classes["Order"], registry=registry, subject="s", proto="message Other {}"
        ).register()
    with pytest.raises(ValueError, match="a subject is needed"):
        ProtobufSerde(classes["Order"], registry=registry).register()


def test_a_message_may_have_another_place_in_the_schema_of_its_writer(
    classes: dict[str, type[Message]], registry: Registry
) -> None:
    older = registry.register("s", Schema("message Order { int64 x = 1; }", "PROTOBUF"))
    reader = ProtobufSerde(classes["Order"], registry=registry)
    for indexes in (b"\0", b"\x02\0"):  # the second is the long form of the first
        data = put_header(older, indexes + b"\x08\x05")
        assert reader.deserialize(data) == classes["Order"](x=5)


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5))
def test_indexes_are_read_as_they_were_written(indexes: list[int]) -> None:
    data = write_indexes(indexes)
    assert read_indexes(data + b"rest") == (indexes, len(data))


@pytest.mark.parametrize("data", [b"", b"\x02", b"\x01", b"\xff" * 9, b"\x02\x80"])
def test_indexes_that_are_none_are_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="does not say which message"):
        read_indexes(data)
