"""A change of a .proto is compatible if what was written is not misread."""

from typing import Any

import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.registry.schemas.proto_files import ProtoFile, load
from moldau.registry.schemas.proto_reading import differences


def kinds(old: str, new: str, syntax: str = "proto3") -> list[str]:
    made = [load(f'syntax = "{syntax}"; {each}', {}) for each in (new, old)]
    return [each.kind for each in differences(*made)]


def message(*fields: str) -> str:
    return f"message M {{ {' '.join(fields)} }} message B {{ int32 v = 1; }} enum E {{ A = 0; }}"


# Old, new, and what is wrong with it: Confluent's names, and its decisions.
PAIRS = [
    ("string x = 1;", "string x = 1;", []),
    ("string x = 1;", "string y = 1;", []),
    ("string x = 1;", "", []),
    ("", "string x = 1;", []),
    ("string x = 1;", "bytes x = 1;", []),
    ("int32 x = 1;", "int64 x = 1;", []),
    ("int32 x = 1;", "bool x = 1;", []),
    ("int32 x = 1;", "E x = 1;", []),
    ("fixed32 x = 1;", "sfixed32 x = 1;", []),
    ("int32 x = 1;", "sint32 x = 1;", ["FIELD_SCALAR_KIND_CHANGED"]),
    ("int32 x = 1;", "string x = 1;", ["FIELD_SCALAR_KIND_CHANGED"]),
    ("float x = 1;", "double x = 1;", ["FIELD_SCALAR_KIND_CHANGED"]),
    ("int32 x = 1;", "B x = 1;", ["FIELD_KIND_CHANGED"]),
    ("B x = 1;", "bytes x = 1;", ["FIELD_KIND_CHANGED"]),
    ("B x = 1;", "M x = 1;", ["FIELD_NAMED_TYPE_CHANGED"]),
    ("map<string, int32> x = 1;", "map<string, int64> x = 1;", []),
    ("map<string, int32> x = 1;", "map<string, string> x = 1;", ["FIELD_SCALAR_KIND_CHANGED"]),
    ("map<string, int32> x = 1;", "B x = 1;", ["FIELD_KIND_CHANGED"]),
    ("int32 x = 1;", "optional int32 x = 1;", []),
    ("int32 x = 1;", "repeated int32 x = 1;", []),  # only labels that are written count
    ("optional int32 x = 1;", "repeated int32 x = 1;", ["FIELD_NUMERIC_LABEL_CHANGED"]),
    ("repeated E x = 1;", "optional E x = 1;", ["FIELD_NUMERIC_LABEL_CHANGED"]),
    ("repeated int32 x = 1;", "oneof o { int32 x = 1; }", []),
    ("optional string x = 1;", "repeated string x = 1;", []),
    ("optional B x = 1;", "repeated B x = 1;", []),
    ("int32 x = 1;", "oneof o { int32 x = 1; }", []),
    (
        "int32 x = 1; int32 y = 2;",
        "oneof o { int32 x = 1; int32 y = 2; }",
        ["MULTIPLE_FIELDS_MOVED_TO_ONEOF"],
    ),
    (
        "int32 x = 1; oneof o { int32 y = 2; }",
        "oneof o { int32 x = 1; int32 y = 2; }",
        ["FIELD_MOVED_TO_EXISTING_ONEOF"],
    ),
    ("oneof o { int32 x = 1; }", "oneof o { int32 x = 1; int32 y = 2; }", []),
    ("oneof o { int32 x = 1; int32 y = 2; }", "oneof o { int32 x = 1; }", ["ONEOF_FIELD_REMOVED"]),
    ("oneof o { int32 x = 1; }", "int32 x = 1;", []),
    ("oneof o { int32 x = 1; }", "", []),
    ("message N {}", "", ["MESSAGE_REMOVED"]),
    ("", "message N {}", []),
]


@pytest.mark.parametrize(("old", "new", "reasons"), PAIRS)
def test_pairs_of_messages(old: str, new: str, reasons: list[str]) -> None:
    assert kinds(message(old), message(new)) == reasons


def test_packages_messages_and_enumerations() -> None:
    assert kinds("package a;", "package b;") == ["PACKAGE_CHANGED"]
    assert kinds("message A {}", "message B {}") == ["MESSAGE_REMOVED"]
    assert kinds("enum E { A = 0; B = 1; }", "enum E { C = 0; }") == []
    assert kinds("enum E { A = 0; }", "message X {}") == []


def test_in_proto2_every_field_has_a_label() -> None:
    old, new = (f"message A {{ {label} int32 x = 1; }}" for label in ("optional", "repeated"))
    assert kinds(old, new, "proto2") == ["FIELD_NUMERIC_LABEL_CHANGED"]
    assert kinds(old, old, "proto2") == []


def test_fields_that_are_required() -> None:
    old, new = "message A {}", "message A { required int32 x = 1; }"
    assert kinds(old, new, "proto2") == ["REQUIRED_FIELD_ADDED"]
    assert kinds(new, old, "proto2") == ["REQUIRED_FIELD_REMOVED"]


def test_messages_that_are_imported_are_compared_as_well() -> None:
    def order(money: str) -> ProtoFile:
        used = load(f'syntax = "proto3"; message Money {{ {money} v = 1; }}', {})
        text = 'syntax = "proto3"; import "money.proto"; message Order { Money m = 1; }'
        return load(text, {"money.proto": used})

    assert differences(order("int64"), order("int32")) == []
    found = differences(order("string"), order("int32"))
    assert [each.kind for each in found] == ["FIELD_SCALAR_KIND_CHANGED"]


def test_messages_that_contain_themselves_are_compared() -> None:
    def tree(kind: str) -> str:
        return f"message T {{ {kind} v = 1; repeated T children = 2; }}"

    assert kinds(tree("int32"), tree("int64")) == []
    assert kinds(tree("int32"), tree("string")) == ["FIELD_SCALAR_KIND_CHANGED"]


TYPES = ["int32", "int64", "uint32", "bool", "sint32", "string", "bytes", "fixed32", "float"]
fields = st.dictionaries(st.integers(1, 4), st.sampled_from(TYPES), max_size=4)


@settings(max_examples=200, deadline=None)
@given(fields, fields)
def test_a_reader_that_is_accepted_reads_every_value_that_was_written(
    old: dict[int, str], new: dict[int, str]
) -> None:
    texts = [
        "message M { " + " ".join(f"{kind} f{n} = {n};" for n, kind in each.items()) + " }"
        for each in (old, new)
    ]
    if kinds(*texts):
        return
    written = _class(texts[0])(**{f"f{n}": _value(kind) for n, kind in old.items()})
    read = _class(texts[1]).FromString(written.SerializeToString())
    for number in old.keys() & new.keys():
        assert getattr(read, f"f{number}"), "what was written is there"


def _class(text: str) -> Any:
    pool = DescriptorPool()
    pool.AddSerializedFile(load(f'syntax = "proto3"; {text}', {}).resolved.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("M"))


def _value(kind: str) -> object:
    return {"string": "a", "bytes": b"a", "bool": True, "float": 1.5}.get(kind, 1)
