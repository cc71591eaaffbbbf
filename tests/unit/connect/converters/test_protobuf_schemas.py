"""Structs as messages: places, numbers, names."""

import pytest

from moldau.connect.converters.protobuf_schemas import TAG, Nullables, file_of_schema
from moldau.connect.data.schema import INT32, STRING, optional, struct
from moldau.connect.errors import DataError

WITHOUT = Nullables()


def test_a_struct_that_occurs_twice_is_declared_once() -> None:
    row = struct([("id", INT32)], name="a.b.Value")
    event = struct([("before", optional(row)), ("after", row)], name="a.b.Envelope")
    file = file_of_schema(event, WITHOUT)
    assert file.package == "a.b"
    (message,) = file.message_type
    assert [each.name for each in message.nested_type] == ["Value"]
    assert {each.type_name for each in message.field} == {".a.b.Envelope.Value"}
    other = struct([("x", row), ("y", struct([("n", STRING)], name="c.Value"))])
    (message,) = file_of_schema(other, WITHOUT).message_type
    assert len({each.type_name for each in message.field}) == 2, "of one name, but not the same"


def test_numbers_of_fields_are_kept_and_others_are_free_ones() -> None:
    tagged = INT32.but(parameters={TAG: "1"})
    row = struct([("new", STRING), ("old", tagged), ("last", STRING)])
    (message,) = file_of_schema(row, WITHOUT).message_type
    assert {each.name: each.number for each in message.field} == {"new": 2, "old": 1, "last": 3}


def test_fields_that_may_be_null_are_declared_as_wanted() -> None:
    row = struct([("a-b", optional(INT32)), ("c", INT32)])
    (plain,) = file_of_schema(row, WITHOUT).message_type
    (marked,) = file_of_schema(row, Nullables(as_optional=True)).message_type
    (wrapped,) = file_of_schema(row, Nullables(as_wrapper=True)).message_type
    assert [each.name for each in plain.field] == ["a_b", "c"]
    assert [each.proto3_optional for each in marked.field] == [True, False]
    assert [each.type_name for each in wrapped.field] == [".google.protobuf.Int32Value", ""]


def test_a_value_without_fields_has_no_message() -> None:
    with pytest.raises(DataError, match="values with fields, not string"):
        file_of_schema(STRING, WITHOUT)
