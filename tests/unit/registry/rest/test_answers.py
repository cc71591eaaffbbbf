"""Answers have Confluent's fields, in its order."""

import json

from moldau.registry.records import SchemaReference, StoredSchema
from moldau.registry.rest.answers import answer, bare_schema, placed_schema

REFERENCE = SchemaReference("M", "money", 1)
PLAIN = StoredSchema("a", 2, 7, '"int"')
USING = StoredSchema("a", 2, 7, "S", "PROTOBUF", (REFERENCE,))


def test_a_schema_with_its_place() -> None:
    assert json.dumps(placed_schema(PLAIN)) == (
        '{"subject": "a", "version": 2, "id": 7, "schema": "\\"int\\""}'
    )
    assert list(placed_schema(USING)) == [
        *("subject", "version", "id", "schemaType", "references", "schema"),
    ]


def test_a_schema_alone() -> None:
    assert bare_schema(PLAIN) == {"schema": '"int"'}
    assert bare_schema(USING, "other")["schema"] == "other"
    assert bare_schema(USING)["references"] == [REFERENCE.as_json()]


def test_the_content_type_is_the_registrys() -> None:
    response = answer([1], 5)
    assert response.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    assert response.headers["x-registry-offset"] == "5"
