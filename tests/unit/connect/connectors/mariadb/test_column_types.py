"""Types of columns; all of them are compared with Debezium's records in conformance."""

import pytest

from moldau.connect.connectors.mariadb.column_types import ColumnType, column_mapping
from moldau.connect.connectors.mariadb.modes import ValueModes
from moldau.connect.data.schema import Kind, Schema

DEFAULTS = ValueModes()


def given(kind: ColumnType, text: str, modes: ValueModes = DEFAULTS) -> tuple[Schema, object]:
    found = column_mapping(kind, modes)
    assert found is not None
    return found.schema, found.convert(text)


@pytest.mark.parametrize(
    ("word", "kind", "unsigned"),
    [
        ("tinyint", Kind.INT16, Kind.INT16),
        ("smallint", Kind.INT16, Kind.INT32),
        ("mediumint", Kind.INT32, Kind.INT32),
        ("int", Kind.INT32, Kind.INT64),
        ("bigint", Kind.INT64, Kind.INT64),
    ],
)
def test_numbers_have_room_for_those_without_a_sign(word: str, kind: Kind, unsigned: Kind) -> None:
    assert given(ColumnType(word), "5")[0].kind is kind
    assert given(ColumnType(word, is_unsigned=True), "5")[0].kind is unsigned


def test_the_largest_numbers_wrap_around_unless_they_are_to_be_precise() -> None:
    kind = ColumnType("bigint", is_unsigned=True)
    assert given(kind, "18446744073709551615")[1] == -1
    precise = given(kind, "18446744073709551615", ValueModes(big_unsigned="precise"))
    assert str(precise[1]) == "18446744073709551615"


def test_days_that_there_are_not_are_null() -> None:
    for word, text in (
        *(("date", "0000-00-00"), ("date", "2024-02-00"), ("datetime", "2024-00-01 00:00:00")),
        ("timestamp", "0000-00-00 00:00:00"),
    ):
        assert given(ColumnType(word), text)[1] is None
    assert given(ColumnType("date"), "1970-01-02")[1] == 1


def test_times_are_spans_that_may_be_negative() -> None:
    assert given(ColumnType("time"), "-838:59:59")[1] == -3_020_399_000_000


@pytest.mark.parametrize("mode", ["connect", "isostring"])
def test_spans_that_are_no_time_of_a_day_are_null_where_those_are_wanted(mode: str) -> None:
    modes = ValueModes(time=mode)
    for text in ("-00:00:00.5", "24:00:00.000001", "838:59:59"):
        assert given(ColumnType("time", digits=6), text, modes)[1] is None
    for text in ("00:00:00", "24:00:00"):
        assert given(ColumnType("time"), text, modes)[1] is not None


def test_bits_have_all_their_bytes() -> None:
    assert given(ColumnType("bit", size=1), "1")[1] is True
    assert given(ColumnType("bit", size=17), "00000000000000101")[1] == b"\5\0\0"


def test_shapes_are_in_the_form_of_others_with_their_reference() -> None:
    _, value = given(ColumnType("point"), "e6100000" + "01aa")
    assert value == {"wkb": b"\1\xaa", "srid": 4326}
    assert given(ColumnType("point"), "00000000" + "01")[1] == {"wkb": b"\1", "srid": None}


def test_a_type_that_is_not_known_has_no_mapping() -> None:
    assert column_mapping(ColumnType("vector"), DEFAULTS) is None
