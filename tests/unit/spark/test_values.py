"""Values by schema: the types that Spark sees, and what becomes of bad ones."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2
from pyspark.sql.types import (
    BinaryType,
    DecimalType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from moldau.client.arrow.avro_values import Avro
from moldau.client.registry import Registry, Schema, put_header
from moldau.client.serdes.avro import AvroSerde
from moldau.client.serdes.json_serde import JsonSerde
from moldau.spark.values import IN_BASE64, TypedValues, ValueOptions, value_type
from unit.client.registry_server import registry_server

PERSON = StructType([StructField("name", StringType()), StructField("age", LongType())])
AVRO: dict[str, object] = {
    "type": "record",
    "name": "Person",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "born", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


def options(**given: str) -> ValueOptions:
    found = ValueOptions.read({name.lower(): value for name, value in given.items()})
    assert found is not None
    return found


def decode(found: ValueOptions, *values: bytes | None) -> list[object]:
    decoded: list[object] = TypedValues(found).decode(pa.array(values, pa.binary())).to_pylist()
    return decoded


@pytest.fixture
def descriptors(tmp_path: Path) -> str:
    """What `protoc --descriptor_set_out` writes of a message with unsigned numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="m.proto", package="p", syntax="proto3")
    message = file.message_type.add(name="Meter")
    field = descriptor_pb2.FieldDescriptorProto
    for number, (name, kind) in enumerate(
        [("id", field.TYPE_UINT32), ("total", field.TYPE_UINT64), ("unit", field.TYPE_STRING)], 1
    ):
        message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    path = tmp_path / "meters.desc"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    return str(path)


def test_without_a_format_values_stay_bytes() -> None:
    assert ValueOptions.read({}) is None


def test_json_has_the_fields_of_the_schema() -> None:
    found = options(valueFormat="json", valueSchema=PERSON.json())
    assert value_type(found) == PERSON
    assert decode(found, b'{"age":7,"name":"Ada","more":1}', None, b'{"name":"Bo"}') == [
        {"name": "Ada", "age": 7},
        None,
        {"name": "Bo", "age": None},
    ]


def test_json_may_take_its_fields_from_the_users_schema() -> None:
    found = options(valueFormat="json").with_type(PERSON)
    assert decode(found, b'{"name":"Ada"}') == [{"name": "Ada", "age": None}]
    with pytest.raises(TypeError, match="structs, not as binary"):
        options(valueFormat="json").with_type(BinaryType())
    with pytest.raises(ValueError, match="needs the fields"):
        TypedValues(options(valueFormat="json"))


def test_avro_has_sparks_types(tmp_path: Path) -> None:
    path = tmp_path / "person.avsc"
    path.write_text(json.dumps(AVRO))
    found = options(valueFormat="avro", valueSchema=str(path))
    assert value_type(found) == StructType(
        [StructField("name", StringType()), StructField("born", TimestampType())]
    )
    rows = [{"name": "Ada", "born": 1000}, None]
    written = Avro(AVRO)
    encoded = written.encode(pa.array(rows, written.type)).to_pylist()
    born = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert decode(found, *encoded) == [{"name": "Ada", "born": born}, None]


def test_messages_have_no_unsigned_numbers_in_spark(descriptors: str) -> None:
    found = options(valueFormat="protobuf", valueSchema=descriptors, valueMessage="p.Meter")
    assert value_type(found) == StructType(
        [
            StructField("id", LongType()),
            StructField("total", DecimalType(20, 0)),
            StructField("unit", StringType()),
        ]
    )
    inline = IN_BASE64 + base64.b64encode(Path(descriptors).read_bytes()).decode()
    given = options(valueFormat="protobuf", valueSchema=inline, valueMessage="p.Meter")
    assert given == found
    encoded = bytes([0x08, 7, 0x10, *[0xFF] * 9, 1, 0x1A, 1, ord("l")])
    (row,) = decode(found, encoded)
    assert row == {"id": 7, "total": 2**64 - 1, "unit": "l"}


def test_values_of_a_registry_have_the_same_types(descriptors: str) -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        born = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
        avro = AvroSerde(AVRO, registry=registry, subject="a").serialize(
            {"name": "Ada", "born": born}
        )
        found = options(valueFormat="avro", valueSchema=json.dumps(AVRO), schemaRegistry=server.url)
        assert decode(found, avro, None) == [{"name": "Ada", "born": born}, None]
        people = JsonSerde({}, registry=registry, subject="j").serialize({"name": "Ada", "age": 7})
        found = options(valueFormat="json", valueSchema=PERSON.json(), schemaRegistry=server.url)
        assert decode(found, people) == [{"name": "Ada", "age": 7}]
        meter = registry.register("m", Schema("message Meter {}", "PROTOBUF"))
        found = options(
            valueFormat="protobuf",
            valueSchema=descriptors,
            valueMessage="p.Meter",
            schemaRegistry=server.url,
        )
        (row,) = decode(found, put_header(meter, b"\0\x08\x07"))
        assert isinstance(row, dict)
        assert row["id"] == 7


def test_bad_values_fail_or_become_null() -> None:
    given = {"valueFormat": "json", "valueSchema": PERSON.json()}
    with pytest.raises(ValueError, match="row 1 is not JSON"):
        decode(options(**given), b'{"age":1}', b"{")
    found = decode(options(**given, badValues="null"), b'{"age":1}', b"{", b'{"age":"x"}')
    assert found == [{"name": None, "age": 1}, None, None]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"valueFormat": "xml"}, "'xml' is none of json, avro, protobuf"),
        ({"valueFormat": "avro"}, "valueSchema is missing"),
        ({"valueFormat": "avro", "valueSchema": "nowhere.avsc"}, "neither a schema nor a file"),
        ({"valueFormat": "json", "badValues": "keep"}, "neither fail nor null"),
        ({"valueFormat": "protobuf", "valueSchema": "{}"}, "valueMessage is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        options(**given)


def test_an_unknown_message_is_named(descriptors: str) -> None:
    found = options(valueFormat="protobuf", valueSchema=descriptors, valueMessage="p.Person")
    with pytest.raises(ValueError, match=r"no message 'p\.Person'"):
        TypedValues(found)
