"""The half of a record that a transformation changes."""

import pytest

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import INT32, STRING, optional, struct
from moldau.connect.errors import DataError
from moldau.connect.transforms.side import RecordSide, field_value, struct_of

ROW = struct([("a", optional(INT32).but(default=7))])


def test_key_and_value_are_told_apart() -> None:
    record = ConnectRecord("t", Datum(1), Datum(2))
    assert RecordSide("key").of(record) == Datum(1)
    assert RecordSide("value").set(record, Datum(3)).value == Datum(3)


def test_null_counts_as_the_default_if_wanted() -> None:
    datum = Datum({"a": None}, ROW)
    assert field_value(datum, "a", filled=True) == 7
    assert field_value(datum, "a", filled=False) is None
    assert field_value(Datum({"a": 1}, ROW), "a", filled=True) == 1


def test_what_is_no_struct_is_refused_with_javas_text() -> None:
    with pytest.raises(DataError, match=r"Only Struct objects supported for \[x\], found: str"):
        struct_of(Datum("s", STRING), "x")
    with pytest.raises(DataError, match=r"Only Map objects supported for \[x\], found: null"):
        struct_of(Datum(), "x")
