"""A change of a JSON schema is compatible if all old values still fit."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.registry.schemas.json_reading import differences
from moldau.registry.schemas.json_schema import JsonDocuments, JsonPlace


def kinds(old: object, new: object) -> list[str]:
    before, after = JsonDocuments(old), JsonDocuments(new)
    return [e.kind for e in differences(JsonPlace(after, new), JsonPlace(before, old))]


def one(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def closed(**properties: object) -> dict[str, object]:
    return {**one(**properties), "additionalProperties": False}


S: dict[str, object] = {"type": "string"}
N: dict[str, object] = {"type": "number"}
I: dict[str, object] = {"type": "integer"}  # noqa: E741 - the three side by side
REQUIRED = {**one(a=S), "required": ["a"]}
UNOPEN = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
OPEN = "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"

# Old, new, and what is wrong with it: Confluent's names, and its decisions.
PAIRS: list[tuple[object, object, list[str]]] = [
    (S, S, []),
    (S, {}, []),
    (S, True, []),
    (False, S, []),
    ({}, S, ["TYPE_NARROWED"]),
    (S, N, ["TYPE_CHANGED"]),
    (I, N, []),
    (N, I, ["TYPE_NARROWED"]),
    (S, {**S, "title": "t", "description": "d", "default": ""}, []),
    ({**S, "maxLength": 3}, {**S, "maxLength": 4}, []),
    ({**S, "maxLength": 3}, S, []),
    ({**S, "maxLength": 3}, {**S, "maxLength": 2}, ["MAX_LENGTH_DECREASED"]),
    (S, {**S, "maxLength": 2}, ["MAX_LENGTH_ADDED"]),
    ({**S, "minLength": 1}, {**S, "minLength": 2}, ["MIN_LENGTH_INCREASED"]),
    (S, {**S, "pattern": "a"}, ["PATTERN_ADDED"]),
    ({**S, "pattern": "b"}, {**S, "pattern": "a"}, ["PATTERN_CHANGED"]),
    ({**S, "pattern": "b"}, S, []),
    ({**N, "maximum": 3}, {**N, "maximum": 2}, ["MAXIMUM_DECREASED"]),
    ({**N, "minimum": 3}, {**N, "minimum": 2}, []),
    (N, {**N, "exclusiveMinimum": 2}, ["EXCLUSIVE_MINIMUM_ADDED"]),
    (N, {**N, "multipleOf": 2}, ["MULTIPLE_OF_ADDED"]),
    ({**N, "multipleOf": 4}, {**N, "multipleOf": 2}, []),
    ({**N, "multipleOf": 2}, {**N, "multipleOf": 4}, ["MULTIPLE_OF_EXPANDED"]),
    ({**N, "multipleOf": 2}, {**N, "multipleOf": 3}, ["MULTIPLE_OF_CHANGED"]),
    (one(a=S), one(a=S, b=S), [OPEN]),
    (one(a=S), one(a=S, b={}), []),
    (one(a=S, b=S), one(a=S), []),
    (closed(a=S), closed(a=S, b=S), []),
    (closed(a=S), {**closed(a=S, b=S), "required": ["b"]}, [UNOPEN]),
    (closed(a=S), {**closed(a=S, b={**S, "default": ""}), "required": ["b"]}, []),
    (closed(a=S, b=S), closed(a=S), ["PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"]),
    (closed(a=S, b=False), closed(a=S), []),
    (one(a=S), REQUIRED, ["REQUIRED_ATTRIBUTE_ADDED"]),
    (one(a=S), {**one(a={**S, "default": ""}), "required": ["a"]}, []),
    (REQUIRED, one(a=S), []),
    (one(a=S), one(a=N), ["TYPE_CHANGED"]),
    (closed(a=S), one(a=S), []),
    (one(a=S), closed(a=S), ["ADDITIONAL_PROPERTIES_REMOVED"]),
    (one(), {**one(), "additionalProperties": S}, ["ADDITIONAL_PROPERTIES_NARROWED"]),
    ({**one(), "additionalProperties": S}, one(), []),
    ({**one(), "additionalProperties": S}, {**one(a=S), "additionalProperties": S}, []),
    (
        {**one(), "additionalProperties": S},
        {**one(a=N), "additionalProperties": S},
        ["PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
    ),
    (
        {**one(a=N), "additionalProperties": S},
        {**one(), "additionalProperties": S},
        ["PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
    ),
    ({**one(), "patternProperties": {"^a": S}}, {**one(a=S), "patternProperties": {"^a": S}}, []),
    (one(), {**one(), "maxProperties": 2}, ["MAX_PROPERTIES_ADDED"]),
    (one(), {**one(), "dependencies": {"a": ["b"]}}, ["DEPENDENCY_ARRAY_ADDED"]),
    ({**one(), "dependencies": {"a": ["b"]}}, one(), []),
    (
        {**one(), "dependencies": {"a": ["b"]}},
        {**one(), "dependencies": {"a": ["b", "c"]}},
        ["DEPENDENCY_ARRAY_EXTENDED"],
    ),
    ({"type": "array", "items": S}, {"type": "array", "items": N}, ["TYPE_CHANGED"]),
    ({"type": "array"}, {"type": "array", "items": S}, ["SCHEMA_ADDED"]),
    ({"type": "array", "items": S}, {"type": "array"}, []),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}, ["UNIQUE_ITEMS_ADDED"]),
    ({"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 1}, ["MAX_ITEMS_DECREASED"]),
    (
        {"type": "array", "items": [S]},
        {"type": "array", "items": [S, N]},
        ["ITEM_ADDED_TO_OPEN_CONTENT_MODEL"],
    ),
    ({"type": "array", "items": [S, N]}, {"type": "array", "items": [S]}, []),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, []),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, ["ENUM_ARRAY_NARROWED"]),
    ({"enum": ["a"]}, {"enum": ["b"]}, ["ENUM_ARRAY_CHANGED"]),
    ({"enum": [1]}, {"enum": [True]}, ["ENUM_ARRAY_CHANGED"]),
    ({"const": 1}, {"enum": [1, 2]}, []),
    (S, {"type": ["string", "null"]}, []),
    ({"type": ["string", "null"]}, S, ["TYPE_CHANGED"]),
    (S, {"oneOf": [{"type": "null"}, S]}, []),
    ({"oneOf": [S, N]}, {"oneOf": [S, N, {"type": "null"}]}, []),
    ({"oneOf": [S, N]}, {"oneOf": [S]}, ["SUM_TYPE_NARROWED"]),
    ({"oneOf": [S, N]}, {"anyOf": [N, S]}, []),
    ({"anyOf": [S, N]}, {"oneOf": [S, N]}, ["COMBINED_TYPE_CHANGED"]),
    ({"allOf": [S]}, {"allOf": [S, {**S, "maxLength": 1}]}, ["PRODUCT_TYPE_EXTENDED"]),
    ({"allOf": [S, {**S, "maxLength": 1}]}, {"allOf": [S]}, []),
    ({"oneOf": [S, N]}, {"oneOf": [S, {"type": "null"}]}, ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]),
    ({"oneOf": [S, S]}, {"oneOf": [S]}, []),
    ({"not": S}, {"not": {**S, "maxLength": 3}}, []),
    ({"not": {**S, "maxLength": 3}}, {"not": S}, ["NOT_TYPE_EXTENDED"]),
    ({"if": S, "then": N}, {"if": S, "then": S}, ["TYPE_CHANGED"]),
]


@pytest.mark.parametrize(("old", "new", "reasons"), PAIRS)
def test_pairs_of_schemas(old: object, new: object, reasons: list[str]) -> None:
    assert kinds(old, new) == reasons


def test_the_place_is_said() -> None:
    before, after = one(a=one(b=S)), one(a=one(b=N))
    (found,) = differences(
        JsonPlace(JsonDocuments(after), after), JsonPlace(JsonDocuments(before), before)
    )
    assert found.path == "#/properties/a/properties/b"


def test_schemas_that_contain_themselves_are_compared() -> None:
    def tree(of: object) -> dict[str, object]:
        children = {"type": "array", "items": {"$ref": "#"}}
        return {**closed(v=of, c=children)}

    assert kinds(tree(I), tree(N)) == []
    assert kinds(tree(N), tree(I)) == ["TYPE_NARROWED"]


def test_combinations_of_combinations_end() -> None:
    deep: dict[str, object] = S
    for _ in range(7):
        deep = {"anyOf": [deep, {"anyOf": [deep, N]}, {"allOf": [deep]}]}
    with pytest.raises(RecursionError):
        kinds(deep, json.loads(json.dumps({**deep, "title": "t"}).replace("number", "integer")))


# Schemas that grow out of each other, and values

SCALARS: list[Any] = [
    *(S, N, I, {"type": "boolean"}, {**S, "maxLength": 1}, {**N, "minimum": 0}),
    *({**I, "maximum": 1}, {"enum": ["a", 1]}, {"enum": ["a", 1, None]}, {"const": "a"}, {}),
]
scalars = st.sampled_from(SCALARS)
SCHEMAS = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda p: one(**p)),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda p: closed(**p)),
        st.dictionaries(st.sampled_from("ab"), inner, min_size=1).map(
            lambda p: {**closed(**p), "required": list(p)[:1]}
        ),
        inner.map(lambda each: {"type": "array", "items": each}),
        st.lists(inner, min_size=1, max_size=2).map(lambda each: {"anyOf": each}),
        st.lists(inner, min_size=1, max_size=2).map(lambda each: {"allOf": each}),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "ab", 0.5]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def evolutions(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema, and one that somebody may have made of it."""
    old: Any = draw(SCHEMAS)
    change = draw(st.sampled_from(["another", "wider", "less", "deeper"]))
    if change == "wider":
        return old, {"anyOf": [old, draw(SCHEMAS)]}
    if change == "less" and old:
        gone = draw(st.sampled_from(sorted(old)))
        return old, {word: each for word, each in old.items() if word != gone}
    if change == "deeper" and old.get("properties"):
        name = draw(st.sampled_from(sorted(old["properties"])))
        return old, {**old, "properties": {**old["properties"], name: draw(SCHEMAS)}}
    return old, draw(SCHEMAS)


@settings(max_examples=250, deadline=None)
@given(evolutions(), st.lists(VALUES, min_size=5, max_size=20))
def test_a_value_of_an_old_schema_fits_a_new_one_that_is_accepted(
    evolution: tuple[Any, Any], values: list[Any]
) -> None:
    old, new = evolution
    if not kinds(old, new):
        assert [each for each in values if _fits(old, each) and not _fits(new, each)] == []


def _fits(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft7Validator(schema).is_valid(value))
