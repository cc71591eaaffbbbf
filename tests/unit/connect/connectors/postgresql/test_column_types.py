"""Types and their values; Debezium's golden records have fifty more, in four configurations."""

from dataclasses import replace
from decimal import Decimal

import pytest

from moldau.connect.connectors.postgresql.column_types import PgType, column_mapping
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.data.schema import BYTES, DECIMAL, FLOAT64, STRING, Kind

MODES = HandlingModes()


def value(kind: PgType, text: str, typmod: int = -1, modes: HandlingModes = MODES) -> object:
    found = column_mapping(kind, typmod, modes)
    assert found is not None
    return found.convert(text)


@pytest.mark.parametrize(
    ("name", "typmod", "text", "expected"),
    [
        ("int8", -1, "-9223372036854775808", -(2**63)),
        ("bool", -1, "f", False),
        ("bit", 1, "0", False),
        ("bit", 9, "100000000", b"\0\1"),
        ("numeric", (10 << 16 | 2) + 4, "1.50", Decimal("1.50")),
        ("numeric", (5 << 16 | 0x7FE) + 4, "1200", Decimal("1.2E+3")),  # a scale of -2
        ("numeric", (10 << 16 | 2) + 4, "NaN", None),
        ("numeric", -1, "-0.05", {"scale": 2, "value": b"\xfb"}),
        ("numeric", -1, "Infinity", None),
        ("money", -1, "-$1,234.56", Decimal("-1234.56")),
        ("bytea", -1, "\\x00ff", b"\0\xff"),
        ("hstore", -1, '"a"=>NULL', '{"a":null}'),
        ("int4range", -1, "[1,10)", "[1,10)"),
    ],
)
def test_values(name: str, typmod: int, text: str, expected: object) -> None:
    kind = PgType(name, "r" if name.endswith("range") else "b")
    assert value(kind, text, typmod) == expected


def test_modes_change_values() -> None:
    numeric, bytea, money = PgType("numeric"), PgType("bytea"), PgType("money")
    assert value(numeric, "Infinity", modes=replace(MODES, decimal="string")) == "POSITIVE_INFINITY"
    assert value(numeric, "1.10", modes=replace(MODES, decimal="double")) == 1.1
    assert value(money, "$1.00", modes=replace(MODES, decimal="string")) == "1.00"
    assert value(money, "$1.05", modes=replace(MODES, decimal="double")) == 1.05
    assert value(money, "$1", modes=replace(MODES, money_digits=0)) == Decimal(1)
    for mode, text in (("base64", "+/8="), ("base64-url-safe", "-_8="), ("hex", "fbff")):
        assert value(bytea, "\\xfbff", modes=replace(MODES, binary=mode)) == text
    pairs = replace(MODES, hstore="map", interval="string")
    assert value(PgType("hstore"), '"a"=>"b"', modes=pairs) == {"a": "b"}
    assert value(PgType("interval"), "1 day", modes=pairs) == "P0Y0M1DT0H0M0S"


def test_arrays_enums_and_domains_are_made_of_other_types() -> None:
    mood = PgType("mood", "e", labels=("sad", "ok"))
    moods = column_mapping(PgType("_mood", element=mood), -1, MODES)
    assert moods is not None
    assert moods.schema.value is not None
    assert moods.schema.value.parameters == {"allowed": "sad,ok"}
    assert not moods.schema.value.optional
    price = PgType("price", "d", base=PgType("numeric"), base_typmod=(6 << 16 | 2) + 4)
    prices = PgType("_price", element=price)
    found = column_mapping(prices, -1, MODES)
    assert found is not None
    assert found.schema.value is not None
    assert (found.schema.value.name, found.schema.value.scale) == (DECIMAL, 2)
    assert found.convert("{1.10,NULL}") == [Decimal("1.10"), None]
    with pytest.raises(ValueError, match="several dimensions"):
        value(PgType("_int4", element=PgType("int4")), "{{1},{2}}")


def test_a_type_that_is_not_known_is_left_out_or_given_as_bytes() -> None:
    box = PgType("box")
    assert column_mapping(box, -1, MODES) is None
    assert column_mapping(PgType("_box", element=box), -1, MODES) is None
    found = column_mapping(box, -1, replace(MODES, has_unknown=True))
    assert found is not None
    assert (found.schema, found.convert("(1,1),(0,0)")) == (BYTES, b"(1,1),(0,0)")


@pytest.mark.parametrize(
    ("kind", "modes", "expected"),
    [
        (PgType("text"), MODES, "gone"),
        (PgType("jsonb"), MODES, "gone"),
        (PgType("bytea"), MODES, b"gone"),
        (PgType("bytea"), replace(MODES, binary="hex"), "676f6e65"),
        (PgType("bytea"), replace(MODES, binary="base64"), "Z29uZQ=="),
        (PgType("hstore"), replace(MODES, hstore="map"), {"gone": "gone"}),
        (PgType("_text", element=PgType("text")), MODES, ["gone"]),
        (PgType("_int4", element=PgType("int4")), MODES, list(b"gone")),
        (PgType("uuid"), MODES, "a97da629-b098-3b75-9bd1-d9acfe95b1d5"),
        (PgType("numeric"), MODES, None),
        (PgType("point"), MODES, None),
    ],
)
def test_what_stands_for_a_value_that_did_not_change(
    kind: PgType, modes: HandlingModes, expected: object
) -> None:
    found = column_mapping(kind, -1, replace(modes, placeholder="gone"))
    assert found is not None
    if kind.name == "uuid":
        assert isinstance(found.unchanged, str)
        assert found.unchanged[14] == "3"  # a name's digest, as of Java's nameUUIDFromBytes
        return
    assert found.unchanged == expected


def test_schemas_of_plain_types() -> None:
    for name, schema in (("text", STRING), ("float8", FLOAT64)):
        found = column_mapping(PgType(name), -1, MODES)
        assert found is not None
        assert found.schema == schema
    bits = column_mapping(PgType("varbit"), -1, MODES)
    assert bits is not None
    assert (bits.schema.kind, bits.schema.parameters) == (Kind.BYTES, {"length": "2147483647"})
