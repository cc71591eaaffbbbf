"""Schemas in the envelope of Connect's JSON."""

from collections.abc import Mapping

from moldau.connect.data.logical import from_stored, to_stored
from moldau.connect.data.schema import Field, Kind, Schema
from moldau.connect.errors import DataError

_KINDS = {kind.value: kind for kind in Kind}


def node_of(schema: Schema) -> dict[str, object]:
    """A schema as JsonConverter writes it, names in its order."""
    node: dict[str, object] = {"type": schema.kind.value}
    match schema.kind:
        case Kind.STRUCT:
            node["fields"] = [
                {**node_of(each.schema), "field": each.name} for each in schema.fields
            ]
        case Kind.ARRAY:
            assert schema.value is not None, "an array says what its elements are"
            node["items"] = node_of(schema.value)
        case Kind.MAP:
            assert schema.key is not None, "a map says what its keys are"
            assert schema.value is not None, "a map says what its values are"
            node["keys"], node["values"] = node_of(schema.key), node_of(schema.value)
    node["optional"] = schema.optional
    if schema.name is not None:
        node["name"] = schema.name
    if schema.version is not None:
        node["version"] = schema.version
    if schema.doc is not None:
        node["doc"] = schema.doc
    if schema.parameters:
        node["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        node["default"] = to_stored(schema, schema.default)
    return node


def schema_of_node(node: object) -> Schema | None:
    """The schema of a node; None for null, as plain data have."""
    if node is None:
        return None
    if not isinstance(node, dict) or node.get("type") not in _KINDS:
        kind = node.get("type") if isinstance(node, dict) else node
        raise DataError(f"Unknown schema type: {kind}")
    kind = _KINDS[node["type"]]
    found = Schema(
        kind,
        optional=bool(node.get("optional", False)),
        name=node.get("name"),
        version=node.get("version"),
        doc=node.get("doc"),
        parameters=dict(node.get("parameters") or {}),
        fields=_fields(node) if kind is Kind.STRUCT else (),
        key=_inner(node, "keys") if kind is Kind.MAP else None,
        value=_element(node, kind),
    )
    if node.get("default") is not None:
        found = found.but(default=from_stored(found, node["default"]))
    return found


def _element(node: Mapping[str, object], kind: Kind) -> Schema | None:
    if kind is Kind.ARRAY:
        return _inner(node, "items")
    return _inner(node, "values") if kind is Kind.MAP else None


def _inner(node: Mapping[str, object], name: str) -> Schema:
    found = schema_of_node(node.get(name))
    if found is None:
        raise DataError(f"{node.get('type')} schema did not specify the {name} schema")
    return found


def _fields(node: Mapping[str, object]) -> tuple[Field, ...]:
    listed = node.get("fields")
    if not isinstance(listed, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    found = []
    for each in listed:
        schema = schema_of_node(each)
        if schema is None or not isinstance(each.get("field"), str):
            raise DataError("Struct schema's field name not specified properly")
        found.append(Field(each["field"], schema))
    return tuple(found)
