"""A reader that is said to read what a writer wrote does so; Apache's own rules agree."""

import io
import json
from typing import Any

import avro.compatibility
import avro.schema
import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.registry.schemas.avro import parse
from moldau.registry.schemas.avro_reading import differences


def kinds(reader: object, writer: object) -> list[str]:
    return [each.kind for each in differences(parse(reader, {}), parse(writer, {}))]


def record(*fields: object, name: str = "R", **more: object) -> dict[str, object]:
    listed = [{"name": each, "type": "int"} if isinstance(each, str) else each for each in fields]
    return {"type": "record", "name": name, "fields": listed, **more}


def enum(*symbols: str, **more: object) -> dict[str, object]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


DEFAULTED = {"name": "y", "type": "int", "default": 0}
MISSING = "READER_FIELD_MISSING_DEFAULT_VALUE"
FIXED = {"type": "fixed", "name": "F", "size": 4}

# Reader, writer, and why it cannot be read: by Avro's specification.
PAIRS: list[tuple[object, object, list[str]]] = [
    ("int", "int", []),
    ("long", "int", []),
    ("float", "long", []),
    ("double", "float", []),
    ("double", "int", []),
    ("string", "bytes", []),
    ("bytes", "string", []),
    ("int", "long", ["TYPE_MISMATCH"]),
    ("float", "double", ["TYPE_MISMATCH"]),
    ("int", "string", ["TYPE_MISMATCH"]),
    ("null", "int", ["TYPE_MISMATCH"]),
    (record("x"), record("x"), []),
    (record("x", DEFAULTED), record("x"), []),
    (record("x"), record("x", "y"), []),
    (record("x", "y"), record("x"), [MISSING]),
    (record("x"), record("x", name="Q"), ["NAME_MISMATCH"]),
    (record("x", aliases=["Q"]), record("x", name="Q"), []),
    (record("x"), record("x", namespace="other"), []),
    (record({"name": "z", "type": "int", "aliases": ["x"]}), record("x"), []),
    (record({"name": "x", "type": "long"}), record("x"), []),
    (record({"name": "x", "type": "string"}), record("x"), ["TYPE_MISMATCH"]),
    (enum("A", "B"), enum("A"), []),
    (enum("A"), enum("A", "B"), ["MISSING_ENUM_SYMBOLS"]),
    (enum("A", default="A"), enum("A", "B"), []),
    (FIXED, {**FIXED, "size": 5}, ["FIXED_SIZE_MISMATCH"]),
    (FIXED, {**FIXED, "name": "G"}, ["NAME_MISMATCH"]),
    (["null", "int"], "int", []),
    (["null", "long"], ["null", "int"], []),
    ("int", ["int"], []),
    ("int", ["null", "int"], ["TYPE_MISMATCH"]),
    (["int"], ["null", "int"], ["MISSING_UNION_BRANCH"]),
    (["null"], "int", ["MISSING_UNION_BRANCH"]),
    ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}, []),
    ({"type": "array", "items": "int"}, {"type": "array", "items": "long"}, ["TYPE_MISMATCH"]),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "string"}, ["TYPE_MISMATCH"]),
    ({"type": "map", "values": "int"}, {"type": "array", "items": "int"}, ["TYPE_MISMATCH"]),
]


@pytest.mark.parametrize(("reader", "writer", "reasons"), PAIRS)
def test_pairs_of_schemas(reader: object, writer: object, reasons: list[str]) -> None:
    assert kinds(reader, writer) == reasons


@pytest.mark.parametrize(("reader", "writer", "reasons"), PAIRS)
def test_apaches_own_rules_say_the_same(reader: object, writer: object, reasons: list[str]) -> None:
    if "namespace" in json.dumps(writer):
        return  # Apache's Python compares full names where Java does not
    assert _apache(reader, writer) == (not reasons)


def test_schemas_that_contain_themselves_are_compared() -> None:
    def tree(of: str) -> dict[str, object]:
        children = {"name": "c", "type": {"type": "array", "items": "T"}}
        return record({"name": "v", "type": of}, children, name="T")

    assert kinds(tree("long"), tree("int")) == []
    assert kinds(tree("int"), tree("long")) == ["TYPE_MISMATCH"]


def test_the_place_is_said() -> None:
    (found,) = differences(parse(record("x", "y"), {}), parse(record("x"), {}))
    assert found.path == "/fields/1"
    assert "'y'" in str(found)


# Schemas that grow out of each other, and values

primitives = st.sampled_from(["int", "long", "float", "double", "string", "bytes", "boolean"])
unions = st.lists(primitives, min_size=1, max_size=3, unique=True).map(lambda each: ["null", *each])
enums = st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True).map(
    lambda each: enum(*each)
)
arrays = primitives.map(lambda each: {"type": "array", "items": each})
field_types = primitives | unions | arrays
DEFAULTS: dict[str, Any] = {
    "int": 0,
    "long": 0,
    "float": 0.5,
    "double": 0.5,
    "string": "",
    "bytes": "",
    "boolean": False,
}


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    fields: list[object] = []
    for name in draw(st.lists(st.sampled_from("abcd"), max_size=4, unique=True)):
        kind = draw(field_types)
        field: dict[str, object] = {"name": name, "type": kind}
        if draw(st.booleans()):
            if isinstance(kind, list):
                field["default"] = None
            elif isinstance(kind, str):
                field["default"] = DEFAULTS[kind]
            else:
                field["default"] = []
        fields.append(field)
    return record(*fields)


def values(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, list):
        return st.one_of([values(each) for each in kind])
    if isinstance(kind, dict):
        if kind["type"] == "array":
            return st.lists(values(kind["items"]), max_size=2)
        if kind["type"] == "enum":
            return st.sampled_from(kind["symbols"])
        return st.fixed_dictionaries({f["name"]: values(f["type"]) for f in kind["fields"]})
    return {
        "null": st.none(),
        "int": st.integers(-(2**31), 2**31 - 1),
        "long": st.integers(-(2**63), 2**63 - 1),
        "float": st.floats(width=32, allow_nan=False),
        "double": st.floats(allow_nan=False),
        "string": st.text(max_size=5),
        "bytes": st.text(max_size=5).map(str.encode),
        "boolean": st.booleans(),
    }[kind]


schemas = primitives | unions | enums | records()


@settings(max_examples=200, deadline=None)
@given(schemas, schemas, st.data())
def test_a_reader_that_is_accepted_reads_every_value_that_was_written(
    reader: Any, writer: Any, data: st.DataObject
) -> None:
    if kinds(reader, writer):
        return
    value = data.draw(values(writer))
    written = io.BytesIO()
    fastavro.schemaless_writer(written, fastavro.parse_schema(writer), value)
    written.seek(0)
    fastavro.schemaless_reader(written, writer, reader)


@settings(max_examples=150, deadline=None)
@given(schemas, schemas)
def test_apaches_own_rules_decide_alike(reader: Any, writer: Any) -> None:
    assert _apache(reader, writer) == (not kinds(reader, writer))


def _apache(reader: object, writer: object) -> bool:
    made_by: Any = avro.compatibility.ReaderWriterCompatibilityChecker
    checker = made_by()
    made = [avro.schema.parse(json.dumps(each)) for each in (reader, writer)]
    found = checker.get_compatibility(*made).compatibility
    return bool(found is avro.compatibility.SchemaCompatibilityType.compatible)
