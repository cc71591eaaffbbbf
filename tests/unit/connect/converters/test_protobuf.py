"""Values in Protocol Buffers with a registry."""

import base64
import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from moldau.client.registry import SERIALIZED, Registry, Schema
from moldau.connect.converters.protobuf import ProtobufConverter
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    map_of,
    optional,
    struct,
)
from moldau.connect.errors import DataError, RetriableConnectError
from moldau.registry.schemas.parsed import parse_schema
from moldau.testing.broker import running_broker
from unit.client.registry_server import RegistryServer, registry_server
from unit.registry.started import KAFKA, started_registry

LINE = struct([("text", STRING)], name="shop.Line")
ROW = struct(
    [
        ("id", INT32),
        ("small", INT16),
        ("big", INT64),
        ("ratio", FLOAT64),
        ("paid", BOOLEAN),
        ("raw", BYTES),
        ("note", optional(STRING)),
        ("price", decimal(2, 10)),
        ("day", DATE_SCHEMA),
        ("hour", TIME_SCHEMA),
        ("at", TIMESTAMP_SCHEMA),
        ("line", LINE),
        ("lines", array(LINE)),
        ("tags", array(STRING)),
        ("counts", map_of(STRING, INT64)),
        ("by_name", map_of(STRING, LINE)),
    ],
    name="shop.Row",
)
VALUE: dict[str, object] = {
    "id": -1,
    "small": 7,
    "big": 2**62,
    "ratio": 0.5,
    "paid": True,
    "raw": b"\0\xff",
    "note": "x",
    "price": Decimal("-12.50"),
    "day": dt.date(1969, 12, 31),
    "hour": dt.time(23, 59, 59, 123000),
    "at": dt.datetime(1969, 12, 31, 23, 59, 59, 5000, tzinfo=dt.UTC),
    "line": {"text": "a"},
    "lines": [{"text": "b"}, {"text": ""}],
    "tags": ["c", ""],
    "counts": {"d": 0},
    "by_name": {"e": {"text": "f"}},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RegistryServer]:
    """A registry that compiles what is asked for in that form, as ours does."""
    plain = Registry.schema

    def schema(registry: Registry, schema_id: int, form: str = "") -> Schema:
        found = plain(registry, schema_id)
        if form == SERIALIZED:
            text = parse_schema(found.kind, found.text, {}, is_new=False).serialized
            return found._replace(text=text)
        return found

    monkeypatch.setattr(Registry, "schema", schema)
    with registry_server() as running:
        yield running


def converter(server: RegistryServer, **settings: str) -> ProtobufConverter:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    return ProtobufConverter({"schema.registry.url": server.url, **named})


def test_a_value_comes_back_with_its_types(server: RegistryServer) -> None:
    data = converter(server).to_bytes("t", Datum(VALUE, ROW))
    assert data is not None
    assert data[:6] == b"\0\0\0\0\1\0", "the first message of schema 1"
    found = converter(server).from_bytes("t", data)
    assert found.value == VALUE
    assert found.schema is not None
    kinds = {each.name: each.schema.kind for each in found.schema.fields}
    assert kinds == {each.name: each.schema.kind for each in ROW.fields}
    price = found.schema.field("price")
    assert price is not None
    assert (price.schema.scale, price.schema.parameters["connect.decimal.precision"]) == (2, "10")
    again = Datum(found.value, found.schema.but(name="shop.Row"))
    assert converter(server).to_bytes("t", again) == data, "the same schema again"


def test_what_is_registered_is_a_file_that_the_registry_takes(server: RegistryServer) -> None:
    converter(server).to_bytes("t", Datum(VALUE, ROW))
    assert list(server.subjects) == ["t-value"]
    kept = server.schemas[0]
    parsed = parse_schema(kept["schemaType"], kept["schema"], {})
    for text in (
        'import "confluent/type/decimal.proto"',
        "google.type.Date day = 9;",
        "connect.type",
    ):
        assert text in parsed.text


def test_nulls_are_zeros_unless_they_are_to_be_kept(server: RegistryServer) -> None:
    row = struct([("n", optional(INT32)), ("s", optional(STRING)), ("b", INT32)], name="R")
    datum = Datum({"n": None, "s": "", "b": 1}, row)

    def back(**settings: str) -> object:
        chosen = converter(server, **settings)
        return chosen.from_bytes("t", chosen.to_bytes("t", datum)).value

    assert back() == {"n": 0, "s": "", "b": 1}
    assert back(optional_for_nullables="true") == {"n": None, "s": "", "b": 1}
    assert back(wrapper_for_nullables="true") == {"n": None, "s": "", "b": 1}
    assert len(server.schemas) == 3


def of_others(server: RegistryServer) -> int:
    """A schema with what Connect has no words for: a union, an enum, a message within one."""
    file = FileDescriptorProto(syntax="proto3", package="p")
    file.message_type.add(name="First")
    message = file.message_type.add(name="Event")
    message.oneof_decl.add(name="what")
    for number, (name, kind) in enumerate((("n", 4), ("s", 9)), 1):
        message.field.add(name=name, number=number, type=kind, label=1, oneof_index=0)
    colour = message.enum_type.add(name="Colour")
    colour.value.add(name="RED", number=0)
    colour.value.add(name="BLUE", number=2)
    message.field.add(name="c", number=3, type=14, label=1, type_name=".p.Event.Colour")
    text = base64.b64encode(file.SerializeToString()).decode()
    return Registry(server.url).register("t-value", Schema(text, "PROTOBUF"))


def test_unions_and_enums_become_structs_and_texts_and_go_back(server: RegistryServer) -> None:
    number = of_others(server)
    data = b"\0" + number.to_bytes(4, "big") + b"\2\2" + b"\x12\x01x\x18\x02"
    found = converter(server).from_bytes("t", data)
    assert found.value == {"what_0": {"n": None, "s": "x"}, "c": "BLUE"}
    back = converter(server).to_bytes("u", found)
    assert back is not None
    assert back[6:] == data[7:], "the same message, the first of another schema"
    large = data[:7] + b"\x08" + b"\xff" * 9 + b"\x01"
    assert converter(server).from_bytes("t", large).value == {
        "what_0": {"n": -1, "s": None},
        "c": "RED",
    }


def test_what_has_no_message_is_refused(server: RegistryServer) -> None:
    chosen = converter(server)
    assert chosen.to_bytes("t", NULL) is None
    assert chosen.from_bytes("t", None) == NULL
    for schema, value, why in (
        (None, {"a": 1}, "needs values with a schema"),
        (STRING, "x", "values with fields"),
        (struct([("a", array(array(INT32)))]), {"a": []}, "no lists of lists"),
        (struct([("a", map_of(FLOAT64, INT32))]), {"a": {}}, "plain keys"),
        (struct([("a", array(optional(STRING)))]), {"a": [None]}, "hold no nulls"),
        (struct([("a", INT32)]), {"a": "x"}, "no value of its schema"),
        (struct([("a", INT32)]), {"a": 2**40}, "out of range"),
    ):
        with pytest.raises(DataError, match=why):
            chosen.to_bytes("t", Datum(value, schema))
    for data in (b"x", b"\0\0\0\0\x63\0", b"\0\0\0\0\1\0\xff"):
        with pytest.raises(DataError, match="to Protobuf"):
            chosen.from_bytes("t", data)


def test_our_own_registry_keeps_what_is_noted_beside_fields() -> None:
    with running_broker(KAFKA) as broker, started_registry(broker.bootstrap_servers) as registry:
        settings = {"schema.registry.url": registry.url}
        data = ProtobufConverter(settings).to_bytes("t", Datum(VALUE, ROW))
        found = ProtobufConverter(settings).from_bytes("t", data)
    assert found.value == VALUE
    assert found.schema is not None
    small, price = found.schema.field("small"), found.schema.field("price")
    assert small is not None
    assert price is not None
    assert small.schema.kind is INT16.kind
    assert price.schema.scale == 2


def test_a_registry_that_is_away_is_tried_again() -> None:
    chosen = ProtobufConverter({"schema.registry.url": "http://127.0.0.1:1"})
    with pytest.raises(RetriableConnectError):
        chosen.to_bytes("t", Datum(VALUE, ROW))
