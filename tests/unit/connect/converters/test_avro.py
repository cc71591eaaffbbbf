"""Values in Avro with a registry."""

import json

import pytest

from moldau.client.registry import Registry, Schema
from moldau.connect.converters.avro import AvroConverter
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import INT32, STRING, struct
from moldau.connect.errors import DataError

ROW = struct([("id", INT32), ("name", STRING)], name="a.Row")


@pytest.fixture
def schemas(monkeypatch: pytest.MonkeyPatch) -> dict[int, Schema]:
    """A registry without a server."""
    known: dict[int, Schema] = {}

    def register(_: Registry, subject: str, schema: Schema) -> int:
        assert subject == "t-value"
        known[len(known) + 1] = schema
        return len(known)

    monkeypatch.setattr(Registry, "register", register)
    monkeypatch.setattr(Registry, "schema", lambda _, schema_id: known[schema_id])
    return known


def test_a_value_is_registered_once_and_read_with_its_schema(schemas: dict[int, Schema]) -> None:
    converter = AvroConverter({"schema.registry.url": "http://localhost:1"})
    datum = Datum({"id": 1, "name": "x"}, ROW)
    data = converter.to_bytes("t", datum)
    assert data is not None
    assert data[:5] == b"\0\0\0\0\1"
    assert converter.to_bytes("t", datum) == data
    assert len(schemas) == 1
    assert json.loads(schemas[1].text)["name"] == "Row"
    assert converter.from_bytes("t", data) == datum


def test_values_without_schema_and_bytes_without_header_are_refused(
    schemas: dict[int, Schema],
) -> None:
    converter = AvroConverter({"schema.registry.url": "http://localhost:1"})
    with pytest.raises(DataError, match="needs values with a schema"):
        converter.to_bytes("t", Datum({"id": 1}))
    with pytest.raises(DataError, match="to Avro"):
        converter.from_bytes("t", b"x")
