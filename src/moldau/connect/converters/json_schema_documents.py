"""Connect's schemas as JSON Schema, as Confluent's JsonSchemaData writes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.connect.data.logical import from_stored, to_stored
from moldau.connect.data.schema import DECIMAL, Field, Kind, Schema
from moldau.connect.errors import DataError

_PREFIX = "io.confluent.connect.json."
ONE_OF, _ENUM = f"{_PREFIX}OneOf", f"{_PREFIX}Enum"
_DEPTH_MAX = 64
_TYPES = {
    Kind.INT8: "integer",
    Kind.INT16: "integer",
    Kind.INT32: "integer",
    Kind.INT64: "integer",
    Kind.FLOAT32: "number",
    Kind.FLOAT64: "number",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "string",
    Kind.BYTES: "string",
}
# What Confluent's converter calls its types beside those of JSON Schema.
_NAMES = {
    Kind.INT8: "int8",
    Kind.INT16: "int16",
    Kind.INT32: "int32",
    Kind.INT64: "int64",
    Kind.FLOAT32: "float32",
    Kind.FLOAT64: "float64",
    Kind.BYTES: "bytes",
}
_KINDS = {name: kind for kind, name in _NAMES.items()}
_PLAIN = {
    "integer": Kind.INT64,
    "number": Kind.FLOAT64,
    "boolean": Kind.BOOLEAN,
    "string": Kind.STRING,
}

Node = Mapping[str, object]


def document_of(schema: Schema, index: int | None = None) -> dict[str, object]:
    """The JSON Schema of a schema; one that may be null is one of null and the rest."""
    place: dict[str, object] = {} if index is None else {"connect.index": index}
    if schema.name == ONE_OF:
        members = [document_of(each.schema.but(optional=False)) for each in schema.fields]
        nothing: list[object] = [{"type": "null"}] if schema.optional else []
        return {"oneOf": [*nothing, *members], **place}
    declared = _declared(schema)
    if schema.optional:
        return {"oneOf": [{"type": "null"}, declared], **place}
    return {**declared, **place}


def _declared(schema: Schema) -> dict[str, object]:
    found = _shape(schema)
    if schema.name is not None:
        found["title"] = schema.name
    if schema.version is not None:
        found["connect.version"] = schema.version
    if schema.doc is not None:
        found["description"] = schema.doc
    kept = {name: text for name, text in schema.parameters.items() if not name.startswith(_PREFIX)}
    if kept:
        found["connect.parameters"] = kept
    if schema.default is not None:
        found["default"] = to_stored(schema, schema.default)
    return found


def _shape(schema: Schema) -> dict[str, object]:
    match schema.kind:
        case Kind.STRUCT:
            properties = {
                each.name: document_of(each.schema, at) for at, each in enumerate(schema.fields)
            }
            return {"type": "object", "properties": properties}
        case Kind.ARRAY:
            assert schema.value is not None, "an array says what its elements are"
            return {"type": "array", "items": document_of(schema.value)}
        case Kind.MAP:
            assert schema.value is not None, "a map says what its values are"
            if schema.key is None or schema.key.kind is not Kind.STRING or schema.key.optional:
                raise DataError("JSON's objects have texts as names: so have maps in JSON Schema")
            values = document_of(schema.value)
            return {"type": "object", "connect.type": "map", "additionalProperties": values}
    if _ENUM in schema.parameters:
        symbols = [text for name, text in schema.parameters.items() if name.startswith(f"{_ENUM}.")]
        return {"enum": symbols}
    kind = "number" if schema.name == DECIMAL else _TYPES[schema.kind]
    noted = {"connect.type": _NAMES[schema.kind]} if schema.kind in _NAMES else {}
    return {"type": kind, **noted}


def schema_of_document(
    text: str, others: Mapping[str, str] | None = None, *, unrequired_optional: bool = False
) -> Schema:
    """Connect's schema of a JSON Schema, and of those that it refers to by name."""
    root = _parsed(text)
    documents = {name: _parsed(other) for name, other in (others or {}).items()}
    return _Reading(root, documents, unrequired_optional=unrequired_optional).schema(root, 0)


def _parsed(text: str) -> Node:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise DataError(f"the JSON Schema {text[:80]} says nothing of its values")
    return found


@dataclass(slots=True)
class _Reading:
    root: Node
    documents: Mapping[str, Node] = field(default_factory=dict)
    unrequired_optional: bool = False

    def schema(self, node: object, depth: int) -> Schema:
        """The schema of a node; one that holds itself is as deep as one likes."""
        if depth > _DEPTH_MAX:
            raise DataError("a JSON Schema that holds itself: Connect has no such schemas")
        if not isinstance(node, dict):
            raise DataError(f"the JSON Schema {node!r} says nothing of its values")
        if "$ref" in node:
            return self.schema(self._referred(str(node["$ref"])), depth + 1)
        for word in ("oneOf", "anyOf"):
            if isinstance(node.get(word), list):
                return _noted(self._one_of(node[word], depth), node, names=False)
        kinds = node.get("type")
        if isinstance(kinds, list):
            listed: list[object] = [{**node, "type": each} for each in kinds]
            return self._one_of(listed, depth)
        if isinstance(node.get("enum"), list):
            symbols = {f"{_ENUM}.{each}": str(each) for each in node["enum"]}
            return _noted(Schema(Kind.STRING, parameters={_ENUM: "", **symbols}), node)
        return _noted(self._shaped(node, kinds, depth), node)

    def _shaped(self, node: Node, kind: object, depth: int) -> Schema:
        noted = node.get("connect.type")
        match kind:
            case "object" if noted == "map" or _is_map(node):
                values = self.schema(node.get("additionalProperties"), depth + 1)
                return Schema(Kind.MAP, key=Schema(Kind.STRING), value=values)
            case "object" | None if "properties" in node or kind:
                return Schema(Kind.STRUCT, fields=self._fields(node, depth))
            case "array":
                if "items" not in node:
                    raise DataError("Array schema did not specify the items type")
                return Schema(Kind.ARRAY, value=self.schema(node["items"], depth + 1))
            case str() if kind in _PLAIN:
                return Schema(_KINDS.get(str(noted), _PLAIN[kind]))
        raise DataError(f"Unsupported schema type {kind} of JSON Schema")

    def _fields(self, node: Node, depth: int) -> tuple[Field, ...]:
        properties, needed = node.get("properties", {}), node.get("required", [])
        if not isinstance(properties, dict) or not isinstance(needed, list):
            raise DataError("properties of a JSON Schema are an object, required is a list")
        found: list[tuple[int, Field]] = []
        for at, (name, each) in enumerate(properties.items()):
            schema = self.schema(each, depth + 1)
            if self.unrequired_optional and name not in needed:
                schema = schema.but(optional=True)
            place = each.get("connect.index", at)
            found.append((place if isinstance(place, int) else at, Field(name, schema)))
        return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))

    def _one_of(self, nodes: list[object], depth: int) -> Schema:
        rest = [each for each in nodes if not _is_null(each)]
        may_be_null = len(rest) < len(nodes)
        if len(rest) == 1:
            found = self.schema(rest[0], depth + 1)
            return found.but(optional=True) if may_be_null else found
        members = tuple(
            Field(f"{ONE_OF}.field.{at}", self.schema(each, depth + 1).but(optional=True))
            for at, each in enumerate(rest)
        )
        return Schema(Kind.STRUCT, optional=may_be_null, name=ONE_OF, fields=members)

    def _referred(self, reference: str) -> object:
        name, _, pointer = reference.partition("#")
        found: object = self.documents.get(name) if name else self.root
        for part in pointer.split("/")[1:]:
            step = part.replace("~1", "/").replace("~0", "~")
            found = found.get(step) if isinstance(found, dict) else None
        if found is None:
            raise DataError(f"the JSON Schema refers to {reference}, which is not there")
        return found


def _is_null(node: object) -> bool:
    return isinstance(node, dict) and node.get("type") == "null"


def _is_map(node: Node) -> bool:
    return "properties" not in node and isinstance(node.get("additionalProperties"), dict)


def _noted(schema: Schema, node: Node, *, names: bool = True) -> Schema:
    if names and isinstance(node.get("title"), str):
        schema = schema.but(name=node["title"])
    if isinstance(node.get("connect.version"), int):
        schema = schema.but(version=node["connect.version"])
    if isinstance(node.get("description"), str):
        schema = schema.but(doc=node["description"])
    parameters = node.get("connect.parameters")
    if isinstance(parameters, dict):
        schema = schema.but(parameters={**schema.parameters, **parameters})
    if schema.name == DECIMAL and "scale" not in schema.parameters:
        schema = schema.but(parameters={**schema.parameters, "scale": "0"})
    if node.get("default") is not None:
        schema = schema.but(default=from_stored(schema, node["default"]))
    return schema
