"""ValueToKey, ExtractField, HoistField and Flatten do what Java's do."""

import pytest

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import INT32, STRING, array, optional, struct
from moldau.connect.errors import DataError
from unit.connect.transforms.chained import chain, changed

INNER = struct([("x", INT32), ("l", array(INT32))], optional=True)
ROW = struct([("a", INT32), ("b", INNER)])


def test_a_key_is_made_of_fields() -> None:
    record = ConnectRecord("t", value=Datum({"a": 1, "b": None}, ROW))
    found = chain("ValueToKey", fields="a").apply(record)
    assert found is not None
    assert found.key == Datum({"a": 1}, struct([("a", INT32)]))
    plain = chain("ValueToKey", fields="a,z").apply(ConnectRecord("t", value=Datum({"a": 1})))
    assert plain is not None
    assert plain.key == Datum({"a": 1, "z": None})


def test_a_key_of_a_field_that_is_not_there_fails() -> None:
    with pytest.raises(DataError, match="Field does not exist: z"):
        changed("ValueToKey", {"a": 1}, ROW, fields="z")
    with pytest.raises(DataError, match="found: null"):
        changed("ValueToKey", None, fields="a")


def test_a_field_takes_the_place_of_the_whole() -> None:
    assert changed("ExtractField$Value", {"a": 1}, ROW, field="a") == Datum(1, INT32)
    nested = changed(
        "ExtractField$Value", {"b": {"x": 2}}, ROW, field="b.x", field_syntax_version="V2"
    )
    assert nested == Datum(2, INT32)
    assert changed("ExtractField$Value", {"a": 1}, field="z") == Datum(None)
    assert changed("ExtractField$Value", None, field="z") == Datum(None)
    with pytest.raises(DataError, match="Unknown field: z"):
        changed("ExtractField$Value", {"a": 1}, ROW, field="z")


def test_the_whole_becomes_a_field() -> None:
    assert changed("HoistField$Value", "s", STRING, field="f") == Datum(
        {"f": "s"}, struct([("f", STRING)])
    )
    assert changed("HoistField$Value", 1, field="f") == Datum({"f": 1})


def test_nested_fields_come_to_the_top_and_lists_stay() -> None:
    found = changed("Flatten$Value", {"a": 1, "b": {"x": 2, "l": [3]}}, ROW, delimiter="_")
    assert found is not None
    assert found.value == {"a": 1, "b_x": 2, "b_l": [3]}
    assert found.schema is not None
    assert [each.schema.optional for each in found.schema.fields] == [False, True, True]
    assert changed("Flatten$Value", {"a": {"b": {"c": 1}}}) == Datum({"a.b.c": 1})


def test_a_null_struct_gives_null_fields_and_a_tombstone_stays() -> None:
    found = changed("Flatten$Value", {"a": 1, "b": None}, ROW)
    assert found is not None
    assert found.value == {"a": 1, "b.x": None, "b.l": None}
    assert changed("Flatten$Value", None, optional(ROW)) == Datum(None, optional(ROW))
