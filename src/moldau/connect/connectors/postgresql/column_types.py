"""Which schema a column's type has in Connect, and how its texts become values of it."""

import json
import struct as layout
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from moldau.connect.connectors.capture.column_mapping import (
    ColumnMapping,
    binary_column,
    bits_schema,
    data_schema,
    enum_schema,
    placeholder_of,
)
from moldau.connect.connectors.capture.temporal import (
    Mapped,
    clock_column,
    date_column,
    precision_of,
    time_schema,
    timestamp_column,
    zoned_clock_column,
    zoned_timestamp_column,
)
from moldau.connect.connectors.postgresql.literals import (
    array_elements,
    bits_bytes,
    hstore_pairs,
    interval_parts,
    point_parts,
)
from moldau.connect.connectors.postgresql.modes import HandlingModes
from moldau.connect.data.logical import integer_bytes
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    STRING,
    Kind,
    array,
    decimal,
    map_of,
    optional,
    struct,
)

_UNLIMITED = 2**31 - 1
_VARIABLE_DECIMAL = struct(
    [("scale", INT32), ("value", BYTES)],
    name="io.debezium.data.VariableScaleDecimal",
    version=1,
    doc="Variable scaled decimal",
)
_POINT = struct(
    [("x", FLOAT64), ("y", FLOAT64), ("wkb", optional(BYTES)), ("srid", optional(INT32))],
    name="io.debezium.data.geometry.Point",
    version=1,
    doc="Geometry (POINT)",
)
_SPECIAL_NUMBERS = {
    "NaN": "NAN",
    "Infinity": "POSITIVE_INFINITY",
    "-Infinity": "NEGATIVE_INFINITY",
}


@dataclass(frozen=True, slots=True)
class PgType:
    """A type as the catalogue describes it."""

    name: str
    kind: str = "b"
    """`b` base, `e` enum, `d` domain, `r` range, `m` multirange, `c` composite, `p` pseudo."""
    element: "PgType | None" = None
    """Of an array."""
    labels: tuple[str, ...] = ()
    """Of an enum."""
    base: "PgType | None" = None
    """Of a domain."""
    base_typmod: int = -1


def column_mapping(kind: PgType, typmod: int, modes: HandlingModes) -> ColumnMapping | None:
    """None if the type is not known here, and unknown ones are left out."""
    while kind.kind == "d" and kind.base is not None:
        typmod = kind.base_typmod if typmod < 0 else typmod
        kind = kind.base
    if kind.element is not None:
        return _array_mapping(kind.element, typmod, modes)
    found = _mapped(kind, typmod, modes)
    if found is None:
        return None
    schema, convert = found
    if kind.name == "bytea":
        # Encoded as its mode encodes values.
        unchanged = convert(f"\\x{modes.placeholder.encode().hex()}")
        return ColumnMapping(schema, convert, unchanged)
    return ColumnMapping(schema, convert, placeholder_of(schema, modes.placeholder))


def _mapped(kind: PgType, typmod: int, modes: HandlingModes) -> Mapped | None:
    if kind.kind == "e":
        return enum_schema(kind.labels), str
    if kind.kind in ("r", "m"):
        return STRING, str
    if kind.name in _PLAIN:
        return _PLAIN[kind.name]
    chosen = _CHOSEN.get(kind.name)
    if chosen is not None:
        return chosen(typmod, modes)
    return (BYTES, str.encode) if modes.has_unknown else None


def _array_mapping(element: PgType, typmod: int, modes: HandlingModes) -> ColumnMapping | None:
    mapped = column_mapping(element, typmod, modes)
    if mapped is None or mapped.schema.kind is Kind.ARRAY:
        return None
    convert, is_enum = mapped.convert, element.kind == "e"

    def elements(text: str) -> object:
        return [None if each is None else convert(each) for each in array_elements(text)]

    inner = mapped.schema if is_enum else optional(mapped.schema)
    unchanged: object = None
    if mapped.unchanged is not None:
        unchanged = [mapped.unchanged]
    elif mapped.schema.kind in (Kind.INT32, Kind.INT64):
        unchanged = list(modes.placeholder.encode())
    return ColumnMapping(array(inner), elements, unchanged)


def _bool(text: str) -> object:
    return text in ("t", "true", "1")


def _point(text: str) -> object:
    x, y = point_parts(text)
    return {"x": x, "y": y, "wkb": layout.pack("<BIdd", 1, 1, x, y), "srid": None}


def _numeric(typmod: int, modes: HandlingModes) -> Mapped:
    if modes.decimal == "string":
        return STRING, lambda text: _SPECIAL_NUMBERS.get(text, text)
    if modes.decimal == "double":
        return FLOAT64, float
    if typmod < 0:
        return _VARIABLE_DECIMAL, _variable_decimal
    precision = (typmod - 4) >> 16 & 0xFFFF
    scale = ((typmod - 4 & 0x7FF) ^ 0x400) - 0x400  # signed, since PostgreSQL 15
    quantum = Decimal(1).scaleb(-scale)

    def convert(text: str) -> object:
        number = Decimal(text)
        if not number.is_finite():
            return None
        return number if scale >= 0 else number.quantize(quantum)

    return decimal(scale, precision), convert


def _variable_decimal(text: str) -> object:
    if text in _SPECIAL_NUMBERS:
        return None
    whole, _, fraction = text.partition(".")
    return {"scale": len(fraction), "value": integer_bytes(int(whole + fraction))}


def _money(typmod: int, modes: HandlingModes) -> Mapped:
    del typmod
    quantum = Decimal(1).scaleb(-modes.money_digits)

    def amount(text: str) -> Decimal:
        return Decimal(text.replace("$", "").replace(",", "")).quantize(quantum)

    if modes.decimal == "string":
        return STRING, lambda text: str(amount(text))
    if modes.decimal == "double":
        return FLOAT64, lambda text: float(amount(text))
    return decimal(modes.money_digits), amount


def _bits(typmod: int, modes: HandlingModes) -> Mapped:
    del modes
    if typmod == 1:
        return BOOLEAN, _bool
    length = _UNLIMITED if typmod < 0 else typmod
    return bits_schema(length), bits_bytes


def _bytea(typmod: int, modes: HandlingModes) -> Mapped:
    del typmod
    return binary_column(modes.binary, _raw)


def _raw(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("\\x"))


def _hstore(typmod: int, modes: HandlingModes) -> Mapped:
    del typmod
    if modes.hstore == "map":
        return map_of(STRING, optional(STRING)), hstore_pairs

    def convert(text: str) -> object:
        return json.dumps(hstore_pairs(text), separators=(",", ":"), ensure_ascii=False)

    return data_schema("Json"), convert


def _interval(typmod: int, modes: HandlingModes) -> Mapped:
    del typmod
    if modes.interval == "string":
        return time_schema("Interval", Kind.STRING), lambda text: interval_parts(text).iso_text()
    return time_schema("MicroDuration"), lambda text: interval_parts(text).total_us()


_STRINGS = (
    *("bpchar", "varchar", "text", "citext", "name", "char"),
    *("inet", "cidr", "macaddr", "macaddr8", "isbn"),
)
_PLAIN: dict[str, Mapped] = {
    "int2": (INT16, int),
    "int4": (INT32, int),
    "int8": (INT64, int),
    "oid": (INT64, int),
    "float4": (FLOAT32, float),
    "float8": (FLOAT64, float),
    "bool": (BOOLEAN, _bool),
    "json": (data_schema("Json"), str),
    "jsonb": (data_schema("Json"), str),
    "xml": (data_schema("Xml"), str),
    "uuid": (data_schema("Uuid"), str),
    "ltree": (data_schema("Ltree"), str),
    "tsvector": (data_schema("Tsvector"), str),
    "point": (_POINT, _point),
    "timetz": zoned_clock_column(),
    **dict.fromkeys(_STRINGS, (STRING, str)),
}
_CHOSEN: dict[str, Callable[[int, HandlingModes], Mapped]] = {
    "numeric": _numeric,
    "money": _money,
    "bit": _bits,
    "varbit": _bits,
    "bytea": _bytea,
    "hstore": _hstore,
    "interval": _interval,
    "date": lambda _, modes: date_column(modes.time),
    "time": lambda typmod, modes: clock_column(modes.time, precision_of(typmod)),
    "timestamp": lambda typmod, modes: timestamp_column(modes.time, precision_of(typmod)),
    "timestamptz": lambda typmod, _: zoned_timestamp_column(precision_of(typmod)),
}
