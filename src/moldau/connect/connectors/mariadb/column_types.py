"""Which schema a column's type has in Connect, and how its texts become values of it."""

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
    time_schema,
    timestamp_column,
    zoned_timestamp_column,
)
from moldau.connect.connectors.capture.times import DAY_US, clock_us
from moldau.connect.connectors.mariadb.modes import ValueModes
from moldau.connect.connectors.mariadb.row_images import float_text
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
    decimal,
    optional,
    struct,
)

_LONG_MAX, _LONGS = 2**63 - 1, 2**64
_GEOMETRY = struct(
    [("wkb", BYTES), ("srid", optional(INT32))],
    name="io.debezium.data.geometry.Geometry",
    version=1,
    doc="Geometry",
)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type, as the log and the catalogue both have it."""

    word: str
    """MariaDB's own, such as `int` or `varchar`."""
    is_unsigned: bool = False
    size: int = 0
    """Of bits their number, of decimals all digits."""
    digits: int = 0
    """After the point, or after the seconds."""
    labels: tuple[str, ...] = ()


def column_mapping(kind: ColumnType, modes: ValueModes) -> ColumnMapping | None:
    """None if the type is not known here."""
    made = _TYPES.get(kind.word)
    if made is None:
        return None
    schema, convert = made(kind, modes)
    return ColumnMapping(schema, convert, placeholder_of(schema, modes.placeholder))


def _whole(signed: Mapped, unsigned: Mapped) -> Callable[[ColumnType, ValueModes], Mapped]:
    return lambda kind, _: unsigned if kind.is_unsigned else signed


def _big(kind: ColumnType, modes: ValueModes) -> Mapped:
    if not kind.is_unsigned:
        return INT64, int
    if modes.big_unsigned == "precise":
        return decimal(0), Decimal
    return INT64, _wrapped


def _wrapped(text: str) -> object:
    number = int(text)
    return number if number <= _LONG_MAX else number - _LONGS


def _float(text: str) -> object:
    return float(float_text(float(text)))


def _decimal(kind: ColumnType, modes: ValueModes) -> Mapped:
    if modes.decimal == "string":
        return STRING, str
    if modes.decimal == "double":
        return FLOAT64, float
    return decimal(kind.digits, kind.size), Decimal


def _bits(kind: ColumnType, modes: ValueModes) -> Mapped:
    del modes
    if kind.size == 1:
        return BOOLEAN, lambda text: text == "1"
    size = (kind.size + 7) // 8
    return bits_schema(kind.size), lambda text: int(text, 2).to_bytes(size, "little")


def _geometry(text: str) -> object:
    data = bytes.fromhex(text)
    return {"wkb": data[4:], "srid": int.from_bytes(data[:4], "little") or None}


def _dated(made: Mapped) -> Mapped:
    """Days that there are not, with zeros in them, are null."""
    schema, convert = made

    def checked(text: str) -> object:
        return None if text[:4] == "0000" or "-00" in text[4:10] else convert(text)

    return schema, checked


def _span(kind: ColumnType, modes: ValueModes) -> Mapped:
    """Times are spans; what is no time of a day is null where the schema has times of a day."""
    schema, convert = clock_column(modes.time, kind.digits)
    if modes.time not in ("connect", "isostring"):
        return schema, convert
    return schema, lambda text: convert(text) if 0 <= clock_us(text) <= DAY_US else None


_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "inet4", "inet6")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_SHAPES = (
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
    *("multipolygon", "geometrycollection"),
)
_TYPES: dict[str, Callable[[ColumnType, ValueModes], Mapped]] = {
    "tinyint": _whole((INT16, int), (INT16, int)),
    "smallint": _whole((INT16, int), (INT32, int)),
    "mediumint": _whole((INT32, int), (INT32, int)),
    "int": _whole((INT32, int), (INT64, int)),
    "bigint": _big,
    "float": lambda *_: (FLOAT32, _float),
    "double": lambda *_: (FLOAT64, float),
    "decimal": _decimal,
    "bit": _bits,
    "year": lambda *_: (time_schema("Year", Kind.INT32), int),
    "date": lambda _, modes: _dated(date_column(modes.time)),
    "time": _span,
    "datetime": lambda kind, modes: _dated(timestamp_column(modes.time, kind.digits)),
    "timestamp": lambda kind, _: _dated(zoned_timestamp_column(kind.digits)),
    "enum": lambda kind, _: (enum_schema(kind.labels), str),
    "set": lambda kind, _: (enum_schema(kind.labels, "EnumSet"), str),
    "json": lambda *_: (data_schema("Json"), str),
    "uuid": lambda *_: (data_schema("Uuid"), str),
    **dict.fromkeys(_TEXTS, lambda *_: (STRING, str)),
    **dict.fromkeys(_BYTES, lambda _, modes: binary_column(modes.binary, bytes.fromhex)),
    **dict.fromkeys(_SHAPES, lambda *_: (_GEOMETRY, _geometry)),
}
