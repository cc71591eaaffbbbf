"""Messages are read by what the registry says of them, imports and all."""

import base64
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from moldau.client.registry import Reference, Registry, Schema
from moldau.client.serdes.described import file_of, message_of, message_reader, message_writer
from unit.client.registry_server import registry_server


@pytest.fixture
def registry() -> Iterator[Registry]:
    with registry_server() as server:
        yield Registry(server.url)


def text_of(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


def register(registry: Registry, *dependencies: str) -> int:
    """A message Trip, the second of its file, with a map and a message within it."""
    place = FileDescriptorProto(syntax="proto3")
    place.message_type.add(name="Place").field.add(name="x", number=1, type=3, label=1)
    registry.register("place", Schema(text_of(place), "PROTOBUF"))
    trip = FileDescriptorProto(syntax="proto3")
    trip.dependency.extend(["place.proto", "google/protobuf/timestamp.proto", *dependencies])
    trip.message_type.add(name="Other")
    message = trip.message_type.add(name="Trip")
    message.field.add(name="to_place", number=1, type=11, label=1, type_name=".Place")
    kind = ".google.protobuf.Timestamp"
    message.field.add(name="at", number=2, type=11, label=1, type_name=kind)
    entry = message.nested_type.add(name="MEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=1)
    entry.field.add(name="value", number=2, type=3, label=1)
    message.field.add(name="m", number=3, type=11, type_name=".Trip.MEntry", label=3)
    message.nested_type.add(name="Stop").field.add(name="n", number=1, type=5, label=1)
    used = (Reference("place.proto", "place", 1),)
    return registry.register("trip", Schema(text_of(trip), "PROTOBUF", used))


def test_a_message_is_found_by_its_place(registry: Registry) -> None:
    read = message_reader(register(registry), registry)
    assert read(b"\x02\x02\x0a\x02\x08\x07\x12\x02\x08\x01") == (
        '{"to_place": {"x": "7"}, "at": "1970-01-01T00:00:01Z"}'
    )
    assert read(b"\0") == "{}", "the first message of all"
    assert read(b"\x04\x02\0\x08\x05") == '{"n": 5}', "one within another, after one of a map"


def test_the_first_message_is_written_from_json(registry: Registry) -> None:
    place = FileDescriptorProto(syntax="proto3")
    place.message_type.add(name="Place").field.add(name="x", number=1, type=3, label=1)
    number = registry.register("place", Schema(text_of(place), "PROTOBUF"))
    write = message_writer(number, registry)
    assert write('{"x": "7"}') == b"\x00\x08\x07"
    assert message_reader(number, registry)(write('{"x": 7}')) == '{"x": "7"}'
    for bad in ("{", '{"y": 1}'):
        with pytest.raises(ValueError, match="no JSON of Place"):
            write(bad)


def test_what_is_no_message_of_it_is_an_error(registry: Registry) -> None:
    number = register(registry)
    with pytest.raises(ValueError, match="no Trip of schema 2"):
        message_reader(number, registry)(b"\x02\x02\xff")
    file = file_of(number, registry)
    for place in ([2], [1, 1], [1, 0, 0], []):
        with pytest.raises(ValueError, match="has no message"):
            message_of(file, place)


def test_options_of_confluents_do_not_matter(registry: Registry) -> None:
    assert file_of(register(registry, "confluent/meta.proto"), registry).dependencies


@pytest.mark.parametrize("name", ["google/protobuf/none.proto", "google/protobuf/a.b.proto"])
def test_an_import_that_nobody_has_is_an_error(registry: Registry, name: str) -> None:
    with pytest.raises(ValueError, match=f"schema 2 cannot be read: no file {name}"):
        file_of(register(registry, name), registry)
