"""Serdes as Spark's columns: bytes to typed columns and back."""

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from moldau.client.arrow.formats import ValueFormat
from moldau.streams.serdes import (
    BYTES,
    INTEGER,
    LONG,
    STRING,
    FormatSerde,
    JsonColumnSerde,
    PlainColumnSerde,
    Serde,
    WindowedSerde,
)

_SIZES = {LONG: 8, INTEGER: 4}
_CORRUPT = "_unreadable"


class Decoded(NamedTuple):
    """What bytes stand for, and why they cannot be read, or null."""

    value: Column
    error: Column


def decoded(data: Column, serde: Serde) -> Decoded:
    """Bytes as what a serde reads; null stays null."""
    match serde:
        case PlainColumnSerde():
            return _plain_decoded(data, serde)
        case JsonColumnSerde(schema):
            return _json_decoded(data, schema)
        case FormatSerde(value_format):
            return _format_decoded(data, value_format)
        case WindowedSerde():
            return _window_decoded(data, serde)


class Encoded(NamedTuple):
    """The bytes of a value, and why it cannot be written, or null."""

    data: Column
    error: Column


def encoded(frame: DataFrame, name: str, serde: Serde | None) -> Encoded:
    """A column as the bytes that a serde writes, or those that fit its type."""
    declared = frame.schema[name].dataType
    chosen = serde or serde_for(declared)
    if isinstance(chosen, FormatSerde):
        return _format_encoded(f.col(name), chosen.format)
    return Encoded(_encoded(f.col(name), declared, chosen), f.lit(None).cast("string"))


def serde_for(declared: DataType) -> Serde:
    """What writes a type if nothing else is said."""
    for serde in (STRING, BYTES, LONG, INTEGER):
        if serde.type == declared.simpleString():
            return serde
    if isinstance(declared, StructType) and declared.names == ["key", "window"]:
        return WindowedSerde(serde_for(declared["key"].dataType))
    return JsonColumnSerde(declared.simpleString())


def _plain_decoded(data: Column, serde: PlainColumnSerde) -> Decoded:
    nothing = f.lit(None).cast("string")
    if serde == BYTES:
        return Decoded(data, nothing)
    if serde == STRING:
        return _text_decoded(data)
    size = _SIZES[serde]
    is_right = f.length(data) == size
    # conv reads 64 bits: what is shorter keeps its sign by being shifted there and back.
    bits = f.conv(f.concat(f.hex(data), f.lit("00" * (8 - size))), 16, -10).cast("bigint")
    number = f.shiftright(bits, 64 - 8 * size).cast(serde.type)
    message = f.concat(f.length(data).cast("string"), f.lit(f" bytes, {serde.name} has {size}"))
    return Decoded(f.when(is_right, number), f.when(~is_right, message))


def _text_decoded(data: Column) -> Decoded:
    """Text that is UTF-8; Spark's own decode would end the query over any that is not."""
    text = data.cast("string")
    is_text = f.is_valid_utf8(text)
    message = f.concat(f.lit("not UTF-8: "), _shown(data))
    return Decoded(f.when(is_text, text), f.when(~is_text, message))


def _shown(data: Column) -> Column:
    """The beginning of bytes as text, with a mark in place of what is none."""
    return f.left(f.make_valid_utf8(data.cast("string")), f.lit(80))


def _json_decoded(data: Column, schema: str) -> Decoded:
    declared = StructType.fromDDL(schema)
    if not isinstance(declared, StructType):
        raise TypeError(f"JSON values are objects: {schema!r} is no list of columns")
    with_error = StructType([*declared.fields, StructField(_CORRUPT, StringType())])
    options = {"columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}
    parsed = f.from_json(_text_decoded(data).value, with_error, options)
    is_bad = data.isNotNull() & (parsed.isNull() | parsed[_CORRUPT].isNotNull())
    value = f.when(~is_bad, f.struct(*(parsed[name].alias(name) for name in declared.names)))
    message = f.concat(f.lit("not JSON of this schema: "), _shown(data))
    return Decoded(f.when(data.isNotNull(), value), f.when(is_bad, message))


def _format_decoded(data: Column, value_format: ValueFormat) -> Decoded:
    result = pa.struct([("value", value_format.type), ("error", pa.string())])

    def decode(values: pa.Array) -> pa.Array:
        try:
            good = value_format.decode(values.cast(pa.binary()))
            errors = pa.nulls(len(values), pa.string())
        except ValueError:
            binary = values.cast(pa.binary())
            good, errors = _one_by_one(binary, value_format.decode, value_format.type)
        return pa.StructArray.from_arrays([good, errors], fields=list(result))

    row: Column = arrow_udf(decode, from_arrow_type(result))(data)  # type: ignore[call-overload]
    return Decoded(row["value"], row["error"])


def _one_by_one(
    values: pa.Array, convert: Callable[[pa.Array], pa.Array], declared: pa.DataType
) -> tuple[pa.Array, pa.Array]:
    """What can be converted, and the errors of the rest: the way of columns that have bad rows."""
    good: list[pa.Array] = []
    errors: list[str | None] = []
    for row in range(len(values)):
        one = values.slice(row, 1)
        try:
            good.append(convert(one))
            errors.append(None)
        except (ValueError, TypeError, pa.ArrowException) as error:
            good.append(pa.nulls(1, declared))
            errors.append(str(error))
    return pa.concat_arrays(good), pa.array(errors, pa.string())


def _encoded(data: Column, declared: DataType, serde: Serde) -> Column:
    match serde:
        case PlainColumnSerde():
            return _plain_encoded(data, declared, serde)
        case JsonColumnSerde():
            return _json_encoded(data, declared)
        case FormatSerde(value_format):
            return _format_encoded(data, value_format).data
        case WindowedSerde(inner, is_session):
            return _window_encoded(data, declared, inner, is_session=is_session)


def _plain_encoded(data: Column, declared: DataType, serde: PlainColumnSerde) -> Column:
    if isinstance(declared, StructType | ArrayType | MapType):
        raise TypeError(
            f"{declared.simpleString()} cannot be written as {serde.name}: "
            "map it to such a value first, or give another serde to .to()"
        )
    if declared.simpleString() != serde.type:
        data = data.cast(serde.type)
    if serde == BYTES:
        return data
    if serde == STRING:
        return f.encode(data, "UTF-8")
    digits = 2 * _SIZES[serde]
    # The hexadecimal digits of a negative number are 16, whatever its type.
    return f.unhex(f.right(f.lpad(f.hex(data), 16, "0"), f.lit(digits)))


def _window_decoded(data: Column, serde: WindowedSerde) -> Decoded:
    """The key, then of a session its end and start, of another window its start."""
    if not serde.is_session and serde.size_ms is None:
        raise TypeError("a key does not say how long its window is: time_windowed(STRING, size)")
    size = 16 if serde.is_session else 8
    is_right = f.length(data) >= size
    inner = decoded(f.substring(data, 1, f.length(data) - size), serde.inner)

    def time(from_end: int) -> Column:
        return _plain_decoded(f.substring(data, -from_end, 8), LONG).value

    start = time(8)
    end = time(16) if serde.is_session else start + f.lit(serde.size_ms)
    window = f.struct(
        f.timestamp_millis(start).alias("start"), f.timestamp_millis(end).alias("end")
    )
    found = f.struct(inner.value.alias("key"), window.alias("window"))
    message = f.concat(f.length(data).cast("string"), f.lit(f" bytes, a window alone has {size}"))
    error = f.when(~is_right, message).otherwise(inner.error)
    return Decoded(f.when(is_right & inner.error.isNull(), found), error)


def _json_encoded(data: Column, declared: DataType) -> Column:
    if isinstance(declared, StructType | ArrayType | MapType):
        return f.encode(f.to_json(data), "UTF-8")
    # A lone value is JSON too, which to_json refuses: it is written within an array.
    text = f.to_json(f.array(data))
    return f.when(data.isNotNull(), f.encode(f.substring(text, 2, f.length(text) - 2), "UTF-8"))


def _format_encoded(data: Column, value_format: ValueFormat) -> Encoded:
    result = pa.struct([("data", pa.binary()), ("error", pa.string())])

    def encode(values: pa.Array) -> pa.Array:
        try:
            good, errors = value_format.encode(values), pa.nulls(len(values), pa.string())
        except (ValueError, TypeError, pa.ArrowException):
            good, errors = _one_by_one(values, value_format.encode, pa.binary())
        return pa.StructArray.from_arrays([good, errors], fields=list(result))

    row: Column = arrow_udf(encode, from_arrow_type(result))(data)  # type: ignore[call-overload]
    return Encoded(row["data"], row["error"])


def _window_encoded(data: Column, declared: DataType, inner: Serde, *, is_session: bool) -> Column:
    assert isinstance(declared, StructType)
    key = _encoded(data["key"], declared["key"].dataType, inner)
    window = data["window"]
    times = [window["end"], window["start"]] if is_session else [window["start"]]
    longs = [_plain_encoded(f.unix_millis(time), LongType(), LONG) for time in times]
    return f.concat(key, *longs)
