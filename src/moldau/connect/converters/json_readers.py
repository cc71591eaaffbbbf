"""Values from JSON, by functions that are made once for a schema.

They do what `from_stored` does, without asking the schema of each value again: a topic has the
same few schemas all the time.
"""

from collections.abc import Callable
from functools import partial

from moldau.connect.data.logical import from_stored
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema

Reader = Callable[[object], object]
"""Takes a value that is not null; DataError if it is none of the schema."""
_LOGICAL = frozenset({DATE, DECIMAL, TIME, TIMESTAMP})
_AS_IT_IS: dict[Kind, type] = {
    **dict.fromkeys((Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64), int),
    **dict.fromkeys((Kind.FLOAT32, Kind.FLOAT64), float),
    Kind.BOOLEAN: bool,
    Kind.STRING: str,
}


def reader_of(schema: Schema) -> Reader:
    """For values of a schema."""
    if schema.name in _LOGICAL:
        return partial(from_stored, schema)
    match schema.kind:
        case Kind.STRUCT:
            return _struct(schema)
        case Kind.ARRAY:
            return _list(schema)
    return partial(from_stored, schema)


def _as_it_is(schema: Schema) -> type | None:
    """The type that values have which are taken as they are; None if there is none."""
    return None if schema.name in _LOGICAL else _AS_IT_IS.get(schema.kind)


def _struct(schema: Schema) -> Reader:
    fields = [(each.name, _as_it_is(each.schema), reader_of(each.schema)) for each in schema.fields]

    def read(value: object) -> object:
        if not isinstance(value, dict):
            return from_stored(schema, value)  # it says what is wrong
        found: dict[str, object] = {}
        for name, kind, inner in fields:
            each = value.get(name)
            if each is None or type(each) is kind:
                found[name] = each
            else:
                found[name] = inner(each)
        return found

    return read


def _list(schema: Schema) -> Reader:
    assert schema.value is not None, "an array says what its elements are"
    inner = reader_of(schema.value)

    def read(value: object) -> object:
        if not isinstance(value, list):
            return from_stored(schema, value)  # it says what is wrong
        return [None if each is None else inner(each) for each in value]

    return read
