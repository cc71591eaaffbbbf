"""The Arrow types of Avro's schemas."""

import pyarrow as pa

_PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", tz="UTC"),
    ("string", "uuid"): pa.string(),
}


def arrow_type(schema: object) -> pa.DataType:
    """The type of a column with values of this schema."""
    if isinstance(schema, str):
        if schema not in _PRIMITIVES:
            raise ValueError(f"{schema!r} is no primitive type: name types where they are used")
        return _PRIMITIVES[schema]
    if isinstance(schema, list):
        others = [each for each in schema if each != "null"]
        if len(others) != 1:
            raise ValueError(f"a column cannot have one type of several: {schema}")
        return arrow_type(others[0])
    assert isinstance(schema, dict), "a schema is a name, a list or an object"
    kind = schema["type"]
    if "logicalType" in schema and (kind, schema["logicalType"]) in _LOGICAL:
        return _LOGICAL[kind, schema["logicalType"]]
    if schema.get("logicalType") == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    match kind:
        case "record":
            return pa.struct(
                [(each["name"], arrow_type(each["type"])) for each in schema["fields"]]
            )
        case "enum":
            return pa.string()
        case "fixed":
            return pa.binary(schema["size"])
        case "array":
            return pa.list_(arrow_type(schema["items"]))
        case "map":
            return pa.map_(pa.string(), arrow_type(schema["values"]))
        case _:
            return arrow_type(kind)
