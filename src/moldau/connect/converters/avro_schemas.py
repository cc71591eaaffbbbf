"""Connect's schemas as Avro's, as Confluent's AvroData writes them."""

from collections.abc import Mapping

from moldau.connect.converters.names import valid_name
from moldau.connect.data.logical import from_number, plain_number, scaled
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Kind, Schema
from moldau.connect.errors import DataError

_DEFAULT_NAME = "ConnectDefault"
_NAMESPACE = "io.confluent.connect.avro"
_PLAIN = {
    Kind.INT8: "int",
    Kind.INT16: "int",
    Kind.INT32: "int",
    Kind.INT64: "long",
    Kind.FLOAT32: "float",
    Kind.FLOAT64: "double",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
}
_OF_AVRO = {
    "int": Kind.INT32,
    "long": Kind.INT64,
    "float": Kind.FLOAT32,
    "double": Kind.FLOAT64,
    "boolean": Kind.BOOLEAN,
    "string": Kind.STRING,
    "bytes": Kind.BYTES,
}
_LOGICAL = {
    ("int", "date"): (Kind.INT32, DATE),
    ("int", "time-millis"): (Kind.INT32, TIME),
    ("long", "timestamp-millis"): (Kind.INT64, TIMESTAMP),
}


def avro_of(schema: Schema) -> object:
    """The Avro schema; one that may be null is a union with null first."""
    declared = _declared(schema)
    if schema.optional:
        return ["null", declared]
    return declared


def _declared(schema: Schema) -> object:
    extra: dict[str, object] = {}
    if schema.name is not None:
        extra["connect.name"] = schema.name
    if schema.version is not None:
        extra["connect.version"] = schema.version
    if schema.parameters:
        extra["connect.parameters"] = dict(schema.parameters)
    match schema.kind:
        case Kind.STRUCT:
            return _record(schema, extra)
        case Kind.ARRAY:
            assert schema.value is not None, "an array says what its elements are"
            return {"type": "array", "items": avro_of(schema.value), **extra}
        case Kind.MAP:
            if schema.key is None or schema.value is None or schema.key.kind is not Kind.STRING:
                raise DataError("Avro's maps have texts as keys")
            return {"type": "map", "values": avro_of(schema.value), **extra}
        case _:
            return _plain(schema, extra)


def _plain(schema: Schema, extra: dict[str, object]) -> object:
    if schema.kind in (Kind.INT8, Kind.INT16):
        extra["connect.type"] = schema.kind.value
    if schema.name == DECIMAL:
        precision = int(schema.parameters.get("connect.decimal.precision", "64"))
        extra |= {"scale": schema.scale, "precision": precision, "logicalType": "decimal"}
    for (_, logical), (_, name) in _LOGICAL.items():
        if schema.name == name:
            extra["logicalType"] = logical
    kind = _PLAIN[schema.kind]
    return {"type": kind, **extra} if extra else kind


def _record(schema: Schema, extra: dict[str, object]) -> object:
    namespace, _, name = (schema.name or f"{_NAMESPACE}.{_DEFAULT_NAME}").rpartition(".")
    fields = []
    for each in schema.fields:
        declared: dict[str, object] = {"name": valid_name(each.name), "type": avro_of(each.schema)}
        if each.schema.optional:
            declared["default"] = None
        fields.append(declared)
    found: dict[str, object] = {"type": "record", "name": valid_name(name), "fields": fields}
    if namespace:
        found["namespace"] = ".".join(valid_name(each) for each in namespace.split("."))
    return {**found, **extra}


def schema_of_avro(declared: object) -> Schema:
    """Connect's schema of an Avro schema."""
    extra: Mapping[str, object] = declared if isinstance(declared, dict) else {}
    match declared:
        case ["null", inner] | [inner, "null"]:
            return schema_of_avro(inner).but(optional=True)
        case str() if declared in _OF_AVRO:
            return Schema(_OF_AVRO[declared])
        case {"type": "record", "fields": list(fields)}:
            listed = tuple(Field(each["name"], schema_of_avro(each["type"])) for each in fields)
            name = extra.get("connect.name") or _full_name(extra)
            return _named(Schema(Kind.STRUCT, fields=listed, name=str(name)), extra)
        case {"type": "array", "items": items}:
            return Schema(Kind.ARRAY, value=schema_of_avro(items))
        case {"type": "map", "values": values}:
            return Schema(Kind.MAP, key=Schema(Kind.STRING), value=schema_of_avro(values))
        case {"type": "enum"}:
            return Schema(Kind.STRING)
        case {"type": str(kind)} if kind in _OF_AVRO:
            return _named(_of_plain(kind, extra), extra)
        case {"type": inner} if not isinstance(inner, str):
            return schema_of_avro(inner)
    raise DataError(f"Avro's {declared!r} has no counterpart among Connect's schemas")


def _of_plain(kind: str, declared: Mapping[str, object]) -> Schema:
    logical = declared.get("logicalType")
    if logical == "decimal":
        scale = str(declared.get("scale", 0))
        return Schema(Kind.BYTES, name=DECIMAL, version=1, parameters={"scale": scale})
    if (kind, logical) in _LOGICAL:
        found, name = _LOGICAL[kind, str(logical)]
        return Schema(found, name=name, version=1)
    own = declared.get("connect.type")
    return Schema(Kind(own) if isinstance(own, str) else _OF_AVRO[kind])


def _named(schema: Schema, declared: Mapping[str, object]) -> Schema:
    for ours, theirs in (("name", "connect.name"), ("version", "connect.version")):
        if theirs in declared:
            schema = schema.but(**{ours: declared[theirs]})
    parameters = declared.get("connect.parameters")
    return schema.but(parameters=parameters) if isinstance(parameters, dict) else schema


def _full_name(declared: Mapping[str, object]) -> str:
    namespace = declared.get("namespace")
    return f"{namespace}.{declared['name']}" if namespace else str(declared["name"])


def to_avro(schema: Schema, value: object) -> object:
    """A value as the Avro writer takes it; logical types in their stored form."""
    if value is None:
        return None
    if schema.name == DECIMAL:
        return value
    if schema.name in (DATE, TIME, TIMESTAMP):
        return plain_number(schema, value)
    match schema.kind, value:
        case Kind.STRUCT, dict():
            return {
                valid_name(each.name): to_avro(each.schema, value.get(each.name))
                for each in schema.fields
            }
        case Kind.ARRAY, list() if schema.value is not None:
            return [to_avro(schema.value, each) for each in value]
        case Kind.MAP, dict() if schema.value is not None:
            return {key: to_avro(schema.value, each) for key, each in value.items()}
    return value


def from_avro(schema: Schema, value: object) -> object:
    """A value that the Avro reader gave."""
    if value is None or (schema.name is None and schema.kind not in _NESTED):
        return value
    if schema.name == DECIMAL and isinstance(value, bytes):
        return scaled(value, schema.scale)
    if schema.name in (DATE, TIME, TIMESTAMP) and isinstance(value, int):
        return from_number(schema.name, value)
    match schema.kind, value:
        case Kind.STRUCT, dict():
            return {each.name: from_avro(each.schema, value[each.name]) for each in schema.fields}
        case Kind.ARRAY, list() if schema.value is not None:
            return [from_avro(schema.value, each) for each in value]
        case Kind.MAP, dict() if schema.value is not None:
            return {key: from_avro(schema.value, each) for key, each in value.items()}
    return value


_NESTED = (Kind.STRUCT, Kind.ARRAY, Kind.MAP)
