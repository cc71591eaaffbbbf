"""Values of JSON Schema's `oneOf`: in Connect a struct of which one field is set."""

from collections.abc import Callable, Iterator

from moldau.connect.converters.json_schema_documents import ONE_OF
from moldau.connect.data.logical import from_stored
from moldau.connect.data.schema import Kind, Schema
from moldau.connect.errors import DataError


def has_union(schema: Schema) -> bool:
    """Whether there is one in it somewhere."""
    return schema.name == ONE_OF or any(map(has_union, _parts(schema)))


def _parts(schema: Schema) -> Iterator[Schema]:
    yield from (each.schema for each in schema.fields)
    if schema.value is not None:
        yield schema.value


def read_unions(schema: Schema, value: object) -> object:
    """A value, each union as the first member that fits."""
    match schema.kind, value:
        case _, None:
            return None
        case Kind.STRUCT, _ if schema.name == ONE_OF:
            return _fitting(schema, value)
        case Kind.STRUCT, dict():
            return {
                each.name: read_unions(each.schema, value.get(each.name)) for each in schema.fields
            }
        case Kind.ARRAY, list() if schema.value is not None:
            return [read_unions(schema.value, each) for each in value]
        case Kind.MAP, dict() if schema.value is not None:
            return {key: read_unions(schema.value, each) for key, each in value.items()}
    return from_stored(schema, value)


def _fitting(schema: Schema, value: object) -> dict[str, object]:
    found: dict[str, object] = {each.name: None for each in schema.fields}
    for each in schema.fields:
        names = {inner.name for inner in each.schema.fields}
        if isinstance(value, dict) and each.schema.kind is Kind.STRUCT and not names >= set(value):
            continue
        try:
            return {**found, each.name: read_unions(each.schema, value)}
        except DataError:
            continue
    raise DataError(f"{str(value)[:80]} is none of what its schema allows")


def write_unions(
    schema: Schema, value: object, stored: Callable[[Schema, object], object]
) -> object:
    """A value as JSON has it, each union as what is set in it."""
    match schema.kind, value:
        case Kind.STRUCT, dict() if schema.name == ONE_OF:
            for each in schema.fields:
                if value.get(each.name) is not None:
                    return write_unions(each.schema, value[each.name], stored)
            return None
        case Kind.STRUCT, dict():
            return {
                each.name: write_unions(each.schema, value.get(each.name), stored)
                for each in schema.fields
            }
        case Kind.ARRAY, list() if schema.value is not None:
            return [write_unions(schema.value, each, stored) for each in value]
        case Kind.MAP, dict() if schema.value is not None:
            return {key: write_unions(schema.value, each, stored) for key, each in value.items()}
    return stored(schema, value)
