"""Kafka's logical types as they are stored: numbers, and bytes in base64."""

import base64
import datetime as dt
import math
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.connect.errors import DataError

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCH_DAY = EPOCH.date()
_MS = dt.timedelta(milliseconds=1)
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    """A Decimal as Java's BigDecimal stores it: big-endian two's complement, no longer than due."""
    try:
        shifted = value.scaleb(scale, _EXACT)
        number = int(shifted)
    except (ValueError, ArithmeticError) as error:
        raise DataError(f"{value} is no number with digits") from error
    if number != shifted:
        raise DataError(f"{value} has more than {scale} digits after the point")
    return integer_bytes(number)


def integer_bytes(number: int) -> bytes:
    """As Java's BigInteger.toByteArray."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(length, "big", signed=True)


def scaled(data: bytes, scale: int) -> Decimal:
    """The Decimal of such bytes."""
    number = int.from_bytes(data, "big", signed=True)
    digits = tuple(int(each) for each in str(abs(number)))
    return Decimal((int(number < 0), digits, -scale))


def plain_number(schema: Schema, value: object) -> int:
    """Days, or milliseconds, of a date or a time; a number stands for what Python cannot say."""
    if isinstance(value, int):
        return value
    if schema.name == DATE and isinstance(value, dt.date):
        day = value.date() if isinstance(value, dt.datetime) else value
        return (day - _EPOCH_DAY).days
    if schema.name == TIME and isinstance(value, dt.time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second
        return seconds * 1000 + value.microsecond // 1000
    if schema.name == TIMESTAMP and isinstance(value, dt.datetime):
        return (value - EPOCH) // _MS
    raise DataError(f"{value!r} is no {schema.name}")


def from_number(name: str, number: int) -> object:
    """The date or time of days or milliseconds."""
    if name == DATE:
        return _EPOCH_DAY + dt.timedelta(days=number)
    if name == TIME:
        return (EPOCH + dt.timedelta(milliseconds=number)).time()
    return EPOCH + dt.timedelta(milliseconds=number)


def to_stored(schema: Schema, value: object) -> object:
    """A value as Connect's JSON has it."""
    if value is None:
        return None
    if schema.name == DECIMAL and isinstance(value, Decimal):
        return base64.b64encode(unscaled_bytes(value, schema.scale)).decode()
    if schema.name in (DATE, TIME, TIMESTAMP):
        return plain_number(schema, value)
    if isinstance(value, float) and not math.isfinite(value):
        return next(name for name, each in _SPECIAL.items() if str(each) == str(value))
    match schema.kind:
        case Kind.BYTES:
            assert isinstance(value, bytes), f"bytes, and not {value!r}"
            return base64.b64encode(value).decode()
        case Kind.STRUCT:
            assert isinstance(value, dict), f"a struct, and not {value!r}"
            return {
                each.name: to_stored(each.schema, value.get(each.name)) for each in schema.fields
            }
        case Kind.ARRAY:
            assert isinstance(value, list), f"a list, and not {value!r}"
            assert schema.value is not None, "an array says what its elements are"
            return [to_stored(schema.value, each) for each in value]
        case Kind.MAP:
            return _stored_map(schema, value)
        case _:
            return value


def _stored_map(schema: Schema, value: object) -> object:
    assert isinstance(value, dict), f"a map, and not {value!r}"
    assert schema.key is not None, "a map says what its keys are"
    assert schema.value is not None, "a map says what its values are"
    if schema.key.kind is Kind.STRING and not schema.key.optional:
        return {key: to_stored(schema.value, each) for key, each in value.items()}
    # JSON's names are texts: other keys make a list of pairs.
    return [
        [to_stored(schema.key, key), to_stored(schema.value, each)] for key, each in value.items()
    ]


def from_stored(schema: Schema, value: object) -> object:
    """The value that JSON stores like this; DataError if it is none of the schema."""
    if value is None:
        return None
    if schema.name == DECIMAL:
        return _decimal(schema, value)
    if schema.name in (DATE, TIME, TIMESTAMP) and isinstance(value, int):
        return from_number(schema.name, value)
    match schema.kind, value:
        case Kind.BYTES, str():
            return base64.b64decode(value)
        case Kind.STRUCT, dict():
            return {
                each.name: from_stored(each.schema, value.get(each.name)) for each in schema.fields
            }
        case Kind.ARRAY, list():
            assert schema.value is not None, "an array says what its elements are"
            return [from_stored(schema.value, each) for each in value]
        case Kind.MAP, (dict() | list()):
            return _map(schema, value)
        case Kind.FLOAT32 | Kind.FLOAT64, str() if value in _SPECIAL:
            return _SPECIAL[value]
        case Kind.FLOAT32 | Kind.FLOAT64, int() | float():
            return float(value)
        case Kind.STRING, str():
            return value
        case Kind.BOOLEAN, bool():
            return value
        case ((Kind.INT8 | Kind.INT16 | Kind.INT32 | Kind.INT64), int()) if value is not True:
            return value
    raise DataError(f"Invalid type for {schema.kind.name}: {type(value).__name__}")


def _decimal(schema: Schema, value: object) -> Decimal:
    if isinstance(value, str):
        return scaled(base64.b64decode(value), schema.scale)
    if isinstance(value, int | float):
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-schema.scale))
    raise DataError(f"{value!r} is no Decimal")


def _map(schema: Schema, value: dict[str, object] | list[object]) -> dict[object, object]:
    assert schema.key is not None, "a map says what its keys are"
    assert schema.value is not None, "a map says what its values are"
    if isinstance(value, dict):
        return {key: from_stored(schema.value, each) for key, each in value.items()}
    found: dict[object, object] = {}
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise DataError("Found invalid map entry, expected length 2")
        found[from_stored(schema.key, pair[0])] = from_stored(schema.value, pair[1])
    return found
