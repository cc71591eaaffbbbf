"""InsertField, ReplaceField and MaskField do what Java's do."""

import datetime as dt
from decimal import Decimal

import pytest

from moldau.connect.data.logical import EPOCH
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import INT32, INT64, STRING, TIMESTAMP_SCHEMA, optional, struct
from moldau.connect.errors import ConfigError, DataError
from unit.connect.transforms.chained import chain, changed

ROW = struct([("a", INT32), ("b", optional(STRING).but(default="d"))], name="row")
INSERT, REPLACE, MASK = "InsertField$Value", "ReplaceField$Value", "MaskField$Value"


def test_fields_are_inserted_with_schemas() -> None:
    found = changed(
        INSERT,
        {"a": 1, "b": None},
        ROW,
        topic_field="t!",
        offset_field="o?",
        timestamp_field="at",
        static_field="s",
        static_value="x",
    )
    assert found is not None
    assert found.value == {"a": 1, "b": "d", "t": "topic", "o": 5, "at": EPOCH, "s": "x"}
    assert found.schema is not None
    kinds = {each.name: each.schema for each in found.schema.fields}
    assert kinds["t"] == STRING
    assert kinds["o"] == optional(INT64)
    assert kinds["at"] == optional(TIMESTAMP_SCHEMA)
    assert found.schema.name == "row"


def test_tombstones_stay_and_maps_work_too() -> None:
    assert changed(INSERT, None, topic_field="t") == Datum()
    assert changed(INSERT, {"a": 1}, partition_field="p") == Datum({"a": 1, "p": 1})


def test_an_insertion_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="No field insertion configured"):
        chain(INSERT)
    with pytest.raises(ConfigError, match="No value specified for static field: s"):
        chain(INSERT, static_field="s")


def test_filters_see_old_names_and_exclusion_wins() -> None:
    found = changed(REPLACE, {"a": 1, "b": None}, ROW, include="b", renames="b:c")
    assert found is not None
    assert found.value == {"c": "d"}
    assert changed(REPLACE, {"a": 1, "b": 2}, include="a,b", exclude="a") == Datum({"b": 2})
    with pytest.raises(ConfigError, match="Invalid rename mapping: x"):
        chain(REPLACE, renames="x")


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        (5, 0),
        (1.5, 0.0),
        (True, False),
        ("x", ""),
        (b"x", b""),
        ([1], []),
        ({"x": 1}, {}),
        (Decimal("1.5"), Decimal(0)),
        (dt.date(2024, 1, 1), dt.date(1970, 1, 1)),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), EPOCH),
        (dt.time(1), dt.time()),
    ],
)
def test_a_masked_field_is_empty_of_its_kind(value: object, masked: object) -> None:
    assert changed(MASK, {"a": value, "b": 1}, fields="a") == Datum({"a": masked, "b": 1})


def test_a_replacement_is_for_numbers_and_texts() -> None:
    assert changed(MASK, {"a": 5}, fields="a", replacement="7") == Datum({"a": 7})
    assert changed(MASK, {"a": "s"}, fields="a,none", replacement="7") == Datum({"a": "7"})
    with pytest.raises(DataError, match="with custom replacement"):
        changed(MASK, {"a": True}, fields="a", replacement="7")
    with pytest.raises(DataError, match="to number"):
        changed(MASK, {"a": 5}, fields="a", replacement="x")
    with pytest.raises(ConfigError, match="Empty list"):
        chain(MASK, fields="")


def test_keys_are_changed_by_the_other_class() -> None:
    record = ConnectRecord("t", Datum({"a": 1}), Datum({"a": 1}))
    found = chain("MaskField$Key", fields="a").apply(record)
    assert found is not None
    assert (found.key.value, found.value.value) == ({"a": 0}, {"a": 1})
