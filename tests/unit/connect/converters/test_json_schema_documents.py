"""Schemas as documents of JSON Schema, and back."""

import json

import pytest

from moldau.connect.converters.json_schema_documents import document_of, schema_of_document
from moldau.connect.data.schema import INT16, STRING, Kind, decimal, map_of, optional, struct
from moldau.connect.errors import DataError

ROW = struct(
    [
        ("b", optional(INT16)),
        ("a", STRING.but(default="x", doc="text")),
        ("m", map_of(STRING, decimal(3))),
    ],
    name="R",
)


def test_a_schema_comes_back_in_its_order() -> None:
    document = document_of(ROW)
    properties = document["properties"]
    assert isinstance(properties, dict)
    document["properties"] = dict(sorted(properties.items()))
    assert schema_of_document(json.dumps(document)) == ROW


def test_a_document_may_refer_to_others() -> None:
    own = '{"type": "object", "properties": {"p": {"$ref": "place.json#/definitions/P"}}}'
    other = '{"definitions": {"P": {"type": "integer"}}}'
    found = schema_of_document(own, {"place.json": other})
    assert found.fields[0].schema.kind is Kind.INT64
    with pytest.raises(DataError, match=r"refers to place\.json"):
        schema_of_document(own)
