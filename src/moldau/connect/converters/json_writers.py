"""Values as JSON has them, by functions that are made once for a schema.

They do what `to_stored` does, without asking the schema of each value again: a source writes the
same few schemas all the time.
"""

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING

from moldau.connect.converters.json_text import json_text
from moldau.connect.data.logical import plain_number, to_stored, unscaled_bytes
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.connect.converters.json_structs import StructWriter

structs: ModuleType = native.kernel(
    "moldau.connect.converters._json_structs", "moldau.connect.converters.json_structs"
)

Writer = Callable[[object], object]
"""Takes a value that is not null."""
_AS_IT_IS = frozenset({Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64, Kind.BOOLEAN, Kind.STRING})


@dataclass(frozen=True, slots=True)
class JsonRules:
    """What a converter's settings say."""

    decimals_are_numbers: bool = False
    fills_defaults: bool = True
    """Null where the schema has a default is the default: in fields of structs as well."""


def writer_of(schema: Schema, rules: JsonRules) -> Writer:
    """For values of a schema, null as well."""
    inner, default = _inner(schema, rules), _default(schema, rules)

    def write(value: object) -> object:
        if value is None:
            return default
        return value if inner is None else inner(value)

    return write


def text_writer_of(schema: Schema, rules: JsonRules) -> Callable[[object], str]:
    """For the text of what `writer_of` gives."""
    if schema.kind is not Kind.STRUCT:
        write = writer_of(schema, rules)
        return lambda value: json_text(write(value))
    struct, default = _struct_text(schema, rules), json_text(_default(schema, rules))
    text: Callable[[object], str] = struct.text
    return lambda value: default if value is None else text(value)


def _struct_text(schema: Schema, rules: JsonRules) -> "StructWriter":
    fields = []
    for name, of in ((each.name, each.schema) for each in schema.fields):
        is_struct = of.kind is Kind.STRUCT
        inner = None if is_struct else _inner(of, rules)
        struct = _struct_text(of, rules) if is_struct else None
        fields.append(structs.FieldWriter(name, _default(of, rules), inner, struct))
    found: StructWriter = structs.StructWriter(fields)
    return found


def _default(schema: Schema, rules: JsonRules) -> object:
    if not rules.fills_defaults or schema.default is None:
        return None
    inner = _inner(schema, rules)
    return schema.default if inner is None else inner(schema.default)


def _inner(schema: Schema, rules: JsonRules) -> Writer | None:
    """None for values that JSON has as they are."""
    if schema.name == DECIMAL:
        return _number if rules.decimals_are_numbers else _decimal(schema)
    if schema.name in (DATE, TIME, TIMESTAMP):
        return lambda value: plain_number(schema, value)
    if schema.kind in _AS_IT_IS:
        return None
    match schema.kind:
        case Kind.FLOAT32 | Kind.FLOAT64:
            return lambda value: _float(schema, value)
        case Kind.STRUCT:
            return _struct(schema, rules)
        case Kind.ARRAY:
            return _list(schema, rules)
    return lambda value: to_stored(schema, value)


def _struct(schema: Schema, rules: JsonRules) -> Writer:
    fields = [
        (each.name, _inner(each.schema, rules), _default(each.schema, rules))
        for each in schema.fields
    ]

    def write(value: object) -> object:
        assert isinstance(value, dict), f"a struct, and not {value!r}"
        found: dict[str, object] = {}
        for name, inner, default in fields:
            each = value.get(name)
            if each is None:
                found[name] = default
            else:
                found[name] = each if inner is None else inner(each)
        return found

    return write


def _list(schema: Schema, rules: JsonRules) -> Writer:
    assert schema.value is not None, "an array says what its elements are"
    # Java fills defaults in fields alone.
    inner = _inner(schema.value, JsonRules(rules.decimals_are_numbers, fills_defaults=False))

    def write(value: object) -> object:
        assert isinstance(value, list), f"a list, and not {value!r}"
        if inner is None:
            return value
        return [None if each is None else inner(each) for each in value]

    return write


def _decimal(schema: Schema) -> Writer:
    scale = schema.scale

    def write(value: object) -> object:
        if not isinstance(value, Decimal):
            return to_stored(schema, value)
        return base64.b64encode(unscaled_bytes(value, scale)).decode()

    return write


def _number(value: object) -> object:
    if not isinstance(value, Decimal):
        return value
    return float(value) if value.as_tuple().exponent else int(value)


def _float(schema: Schema, value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return to_stored(schema, value)
    return value
