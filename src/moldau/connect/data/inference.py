"""Schemas of values that have none, as plain JSON's."""

from collections.abc import Iterable

from moldau.connect.data.schema import Field, Kind, Schema


def inferred(values: Iterable[object]) -> Schema:
    """A schema that holds all of these; whatever it holds may be null."""
    found: Schema | None = None
    for value in values:
        if value is not None:
            found = _merged(found, _schema(value))
    return found or Schema(Kind.STRING, optional=True)


def _schema(value: object) -> Schema:
    match value:
        case bool():
            return Schema(Kind.BOOLEAN, optional=True)
        case int():
            return Schema(Kind.INT64, optional=True)
        case float():
            return Schema(Kind.FLOAT64, optional=True)
        case bytes():
            return Schema(Kind.BYTES, optional=True)
        case dict():
            fields = tuple(Field(str(name), _or_text(each)) for name, each in value.items())
            return Schema(Kind.STRUCT, optional=True, fields=fields)
        case list():
            return Schema(Kind.ARRAY, optional=True, value=inferred(value))
    return Schema(Kind.STRING, optional=True)


def _or_text(value: object) -> Schema:
    return Schema(Kind.STRING, optional=True) if value is None else _schema(value)


def _merged(one: Schema | None, other: Schema) -> Schema:
    if one is None or one == other:
        return other
    if {one.kind, other.kind} == {Kind.INT64, Kind.FLOAT64}:
        return Schema(Kind.FLOAT64, optional=True)
    if one.kind is Kind.STRUCT and other.kind is Kind.STRUCT:
        fields = {each.name: each.schema for each in one.fields}
        for each in other.fields:
            fields[each.name] = _merged(fields.get(each.name), each.schema)
        listed = tuple(Field(name, schema) for name, schema in fields.items())
        return Schema(Kind.STRUCT, optional=True, fields=listed)
    if one.kind is Kind.ARRAY and other.kind is Kind.ARRAY and one.value and other.value:
        return Schema(Kind.ARRAY, optional=True, value=_merged(one.value, other.value))
    return Schema(Kind.STRING, optional=True)


def fitted(schema: Schema, value: object) -> object:
    """A value as the inferred schema has it: what did not fit together is text."""
    if value is None:
        return None
    match schema.kind, value:
        case Kind.STRUCT, dict():
            return {each.name: fitted(each.schema, value.get(each.name)) for each in schema.fields}
        case Kind.ARRAY, list() if schema.value is not None:
            return [fitted(schema.value, each) for each in value]
        case Kind.FLOAT64, int():
            return float(value)
        case Kind.STRING, _:
            return value if isinstance(value, str) else str(value)
    return value
