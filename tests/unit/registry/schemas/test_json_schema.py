"""JSON schemas are checked, and their references found."""

import pytest

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.json_schema import (
    JsonDocuments,
    JsonPlace,
    canonical,
    load,
    matches,
)


def facets(schema: object) -> list[str]:
    return [each.kind for each in JsonPlace(JsonDocuments(schema), schema).facets()]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nothing"},
        {"type": 7},
        {"properties": []},
        {"required": "a"},
        {"minLength": -1},
        {"$schema": "http://127.0.0.1:1/a-place-to-be-lured-to"},
        {"$schema": 7},
        [],
        "string",
        {"$ref": "#/definitions/none"},
        {"items": {"$ref": "other.json"}},
        {"$ref": "#nowhere"},
    ],
)
def test_what_is_no_schema_is_refused(schema: object) -> None:
    with pytest.raises(InvalidSchema):
        load(schema, {})


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        {"$schema": "https://json-schema.org/draft-07/schema"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}]},
        {"definitions": {"a/b": {"type": "integer"}}, "$ref": "#/definitions/a~1b"},
        {"enum": [{"$ref": "not a reference"}]},
    ],
)
def test_what_is_one_is_taken(schema: object) -> None:
    load(schema, {})


def test_references_are_found_here_and_elsewhere() -> None:
    other = load({"$id": "http://x/money.json", "definitions": {"cents": {"type": "integer"}}}, {})
    documents = load(
        {
            "definitions": {"a": {"$anchor": "here", "type": "string"}},
            "properties": {
                "one": {"$ref": "#/definitions/a"},
                "two": {"$ref": "money.json#/definitions/cents"},
                "three": {"$ref": "http://x/money.json#/definitions/cents"},
                "four": {"$ref": "#here"},
            },
        },
        {"money.json": other},
    )
    for reference, kind in [
        ("#/definitions/a", "string"),
        ("money.json#/definitions/cents", "integer"),
        ("http://x/money.json#/definitions/cents", "integer"),
        ("#here", "string"),
        ("#/properties/four", None),
    ]:
        assert documents.find(reference).word("type") == kind


def test_references_to_references_end() -> None:
    documents = JsonDocuments({"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}})
    with pytest.raises(InvalidSchema, match="in a row"):
        documents.find("#/a").resolved()


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        (True, []),
        ({}, []),
        (False, ["false"]),
        ({"type": "integer"}, ["number"]),
        ({"type": ["string"]}, ["string"]),
        ({"type": ["string", "null"]}, ["combined"]),
        ({"maxLength": 3}, ["string"]),
        ({"properties": {}}, ["object"]),
        ({"enum": [1], "type": "integer"}, ["enum"]),
        ({"const": None}, ["enum"]),
        ({"anyOf": [{}], "not": {}}, ["combined", "not"]),
        ({"if": {}}, ["conditional"]),
    ],
)
def test_a_schema_is_taken_apart(schema: object, kinds: list[str]) -> None:
    assert facets(schema) == kinds


def test_the_order_of_words_stays_unless_it_is_to_be_normalized() -> None:
    declared = {"type": "object", "additionalProperties": False, "title": "ü"}
    assert canonical(declared) == ('{"type":"object","additionalProperties":false,"title":"ü"}')
    assert canonical(declared, is_sorted=True).startswith('{"additionalProperties"')


def test_a_pattern_that_is_none_fits_nothing() -> None:
    assert matches("^a", "abc")
    assert not matches("^a", "cab")
    assert not matches("(", "(")
