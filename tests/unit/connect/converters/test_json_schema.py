"""Values in JSON with a JSON Schema of a registry."""

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal

import pytest

from moldau.client.registry import Registry, Schema
from moldau.connect.converters.json_schema import JsonSchemaConverter
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import (
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    INT8,
    INT32,
    INT64,
    STRING,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    map_of,
    optional,
    struct,
)
from moldau.connect.errors import DataError
from unit.client.registry_server import RegistryServer, registry_server

ROW = struct(
    [
        ("id", INT64),
        ("small", INT8),
        ("ratio", FLOAT32),
        ("raw", BYTES),
        ("note", optional(STRING)),
        ("price", decimal(2)),
        ("day", DATE_SCHEMA),
        ("at", TIMESTAMP_SCHEMA),
        ("line", optional(struct([("a", INT32)], name="Line"))),
        ("tags", array(STRING)),
        ("counts", map_of(STRING, INT64)),
    ],
    name="shop.Row",
    version=2,
    doc="a row",
)
VALUE: dict[str, object] = {
    "id": 2**60,
    "small": 7,
    "ratio": 0.5,
    "raw": b"\0\xff",
    "note": None,
    "price": Decimal("12.50"),
    "day": dt.date(2024, 2, 29),
    "at": dt.datetime(2024, 2, 29, 1, 2, 3, 4000, tzinfo=dt.UTC),
    "line": {"a": 1},
    "tags": ["x"],
    "counts": {"d": 4},
}


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as running:
        yield running


def converter(server: RegistryServer, **settings: str) -> JsonSchemaConverter:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    return JsonSchemaConverter({"schema.registry.url": server.url, **named})


def read(server: RegistryServer, schema: object, value: object, **settings: str) -> Datum:
    number = Registry(server.url).register("t-value", Schema(json.dumps(schema), "JSON"))
    data = b"\0" + number.to_bytes(4, "big") + json.dumps(value).encode()
    return converter(server, **settings).from_bytes("t", data)


def test_a_value_comes_back_with_its_schema(server: RegistryServer) -> None:
    data = converter(server).to_bytes("t", Datum(VALUE, ROW))
    assert data is not None
    assert converter(server).from_bytes("t", data) == Datum(VALUE, ROW)
    assert json.loads(data[5:])["price"] == "BOI="
    numeric = converter(server, decimal_format="NUMERIC").to_bytes("t", Datum(VALUE, ROW))
    assert numeric is not None
    assert json.loads(numeric[5:])["price"] == 12.5
    assert converter(server).from_bytes("t", numeric).value == VALUE


def test_the_document_has_what_confluents_has(server: RegistryServer) -> None:
    row = struct([("id", INT32), ("note", optional(STRING))], name="R")
    converter(server).to_bytes("t", Datum({"id": 1, "note": None}, row))
    assert server.schemas[0]["schemaType"] == "JSON"
    assert json.loads(server.schemas[0]["schema"]) == {
        "type": "object",
        "title": "R",
        "properties": {
            "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
            "note": {"oneOf": [{"type": "null"}, {"type": "string"}], "connect.index": 1},
        },
    }


def test_documents_of_others_are_read(server: RegistryServer) -> None:
    document = {
        "title": "Order",
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "state": {"enum": ["open", "paid"]},
            "to": {"$ref": "#/definitions/Place"},
            "amount": {"type": ["number", "null"]},
            "what": {"oneOf": [{"type": "integer"}, {"$ref": "#/definitions/Place"}]},
        },
        "definitions": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
    value = {"id": 1, "state": "open", "to": {"city": "Prag"}, "what": {"city": "Melnik"}}
    found = read(server, document, value, use_optional_for_nonrequired="true")
    one_of = "io.confluent.connect.json.OneOf.field"
    assert found.value == {
        "id": 1,
        "state": "open",
        "to": {"city": "Prag"},
        "amount": None,
        "what": {f"{one_of}.0": None, f"{one_of}.1": {"city": "Melnik"}},
    }
    assert found.schema is not None
    assert [(each.name, each.schema.optional) for each in found.schema.fields] == [
        ("id", False),
        ("state", True),
        ("to", True),
        ("amount", True),
        ("what", True),
    ]
    back = converter(server).to_bytes("u", found)
    assert back is not None
    assert json.loads(back[5:]) == {**value, "amount": None}


def test_what_cannot_be_a_schema_is_refused(server: RegistryServer) -> None:
    chosen = converter(server)
    assert chosen.to_bytes("t", NULL) is None
    assert chosen.from_bytes("t", None) == NULL
    with pytest.raises(DataError, match="needs values with a schema"):
        chosen.to_bytes("t", Datum({"a": 1}))
    with pytest.raises(DataError, match="texts as names"):
        chosen.to_bytes("t", Datum({1: 1}, map_of(INT32, INT32)))
    itself = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    for document, why in (
        (itself, "holds itself"),
        ({"$ref": "#/nowhere"}, "not there"),
        ({"type": "array"}, "items type"),
        ({"type": "what"}, "Unsupported schema type"),
        ([], "says nothing"),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "none of what"),
    ):
        with pytest.raises(DataError, match=why):
            read(server, document, "x")
    with pytest.raises(DataError, match="to JSON Schema"):
        chosen.from_bytes("t", b"\0\0\0\0\x63{")
