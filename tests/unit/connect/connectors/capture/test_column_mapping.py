"""Schemas and conversions that databases share."""

from decimal import Decimal

from moldau.connect.connectors.capture.column_mapping import (
    ColumnMapping,
    binary_column,
    bits_schema,
    default_value,
    enum_schema,
    placeholder_of,
)
from moldau.connect.data.schema import BYTES, INT32, STRING, Kind, Schema, decimal, map_of


def test_bytes_have_the_form_that_is_wanted() -> None:
    found = {
        mode: binary_column(mode, bytes.fromhex)[1]("fbff00")
        for mode in ("bytes", "hex", "base64", "base64-url-safe")
    }
    assert found == {
        "bytes": b"\xfb\xff\x00",
        "hex": "fbff00",
        "base64": "+/8A",
        "base64-url-safe": "-_8A",
    }
    assert binary_column("bytes", bytes.fromhex)[0] is BYTES


def test_schemas_have_debeziums_names() -> None:
    assert enum_schema(("a", "b")).parameters == {"allowed": "a,b"}
    assert enum_schema((), "EnumSet").name == "io.debezium.data.EnumSet"
    assert (bits_schema(9).kind, bits_schema(9).parameters) == (Kind.BYTES, {"length": "9"})


def test_a_default_is_a_value_of_the_columns_type() -> None:
    price = ColumnMapping(decimal(2), Decimal, None)
    assert str(default_value(price, "1.5", "1.5")) == "1.50"
    assert default_value(price, "soon", "soon()") is None
    assert default_value(ColumnMapping(INT32, int, None), "7", "7") == 7


def test_what_is_not_known_has_a_mark_if_its_type_allows_one() -> None:
    assert placeholder_of(STRING, "x") == "x"
    assert placeholder_of(BYTES, "x") == b"x"
    assert placeholder_of(map_of(STRING, STRING), "x") == {"x": "x"}
    assert placeholder_of(INT32, "x") is None
    uuid = Schema(Kind.STRING, name="io.debezium.data.Uuid")
    assert placeholder_of(uuid, "x") == "9dd4e461-268c-3034-b5c8-564e155c67a6"
