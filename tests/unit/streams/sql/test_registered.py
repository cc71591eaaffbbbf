"""What a registry has of a topic becomes its shape."""

import json

import pytest

from moldau.client.registry import Registry, RegistryError, Schema
from moldau.streams.sql.registered import RegisteredShapes, columns_of_schema
from moldau.streams.sql.shapes import TopicShape


class GivenRegistry(Registry):
    def __init__(self, schemas: dict[str, Schema], code: int = 40401) -> None:
        super().__init__("http://localhost:1")
        self._given = schemas
        self._code = code

    def latest(self, subject: str) -> tuple[int, Schema]:
        if subject not in self._given:
            raise RegistryError("no such subject", self._code)
        return 7, self._given[subject]


def found(schema: Schema) -> TopicShape | None:
    registry = GivenRegistry({"t-value": schema})
    return RegisteredShapes(registry, lambda text: (text.encode(), "a.B")).find("t")


def test_each_kind_of_schema_is_a_shape() -> None:
    assert found(Schema('"string"')) == TopicShape("avro", '"string"', has_header=True)
    described = TopicShape("protobuf", "eA==", message="a.B", has_header=True)
    assert found(Schema("x", "PROTOBUF")) == described
    text = '{"properties": {"a": {"type": "integer"}}}'
    assert found(Schema(text, "JSON")) == TopicShape("json", "`a` bigint", has_header=True)


def test_what_is_not_registered_is_unknown_and_other_errors_are_told() -> None:
    assert RegisteredShapes(GivenRegistry({}), lambda _: (b"", "")).find("t") is None
    with pytest.raises(RegistryError, match="no such subject"):
        RegisteredShapes(GivenRegistry({}, 0), lambda _: (b"", "")).find("t")


@pytest.mark.parametrize(
    ("declared", "type_"),
    [
        ({"type": "number"}, "double"),
        ({"type": ["null", "string"]}, "string"),
        ({"oneOf": [{"type": "null"}, {"type": "boolean"}]}, "boolean"),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "string"),
        ({"type": "array", "items": {"type": "integer"}}, "array<bigint>"),
        ({"type": "object", "properties": {"b": {"type": "number"}}}, "struct<`b`: double>"),
        ({"type": "object"}, "string"),
        (True, "string"),
    ],
)
def test_a_property_has_the_nearest_type(declared: object, type_: str) -> None:
    assert columns_of_schema(json.dumps({"properties": {"a": declared}})) == f"`a` {type_}"


def test_a_schema_without_properties_says_nothing() -> None:
    with pytest.raises(ValueError, match="names no properties"):
        columns_of_schema("{}")
