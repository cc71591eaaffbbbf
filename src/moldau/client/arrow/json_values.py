"""Columns of JSON, an object for each row, alone or with the header of a schema registry."""

import json
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from moldau.client.registry import Registry, body_of
from moldau.client.serdes.json_serde import JsonSerde

_WHITESPACE = b" \t\r\n"


class Json:
    """Objects with the fields of a schema; fields that it does not know are left out.

    Arrow's own parser reads a whole column at once, several times as fast as object by object.
    With a registry, values have its header; what is encoded is registered under `subject`, with
    a JSON Schema that says the same as the schema here.
    """

    def __init__(
        self,
        schema: pa.Schema | Mapping[str, pa.DataType],
        *,
        registry: Registry | None = None,
        subject: str | None = None,
    ) -> None:
        self._schema = schema if isinstance(schema, pa.Schema) else pa.schema(list(schema.items()))
        self._registry = registry
        self.type = pa.struct(list(self._schema))
        declared = _json_schema(self.type)
        self._rows = JsonSerde(declared, registry=registry, subject=subject)

    def decode(self, values: pa.Array) -> pa.Array:
        """A column of JSON texts to a column of structs."""
        if len(values) == 0:
            return pa.array([], self.type)
        if self._registry is not None:
            values = _without_header(values)
        filled = values.fill_null(b"{}")
        _check_ends(filled)
        lines = pc.binary_join(pa.ListArray.from_arrays([0, len(filled)], filled), b"\n")
        options = arrow_json.ParseOptions(
            explicit_schema=self._schema,
            newlines_in_values=True,
            unexpected_field_behavior="ignore",
        )
        try:
            source = pa.BufferReader(lines[0].as_buffer())
            block = arrow_json.ReadOptions(block_size=max(2 * lines[0].as_buffer().size, 1 << 16))
            parsed = arrow_json.read_json(source, block, options)
        except pa.ArrowInvalid as error:
            raise ValueError(
                _first_bad(values) or f"JSON does not fit the schema: {error}"
            ) from error
        if parsed.num_rows != len(values):
            raise ValueError(_first_bad(values) or "a value is not one JSON object")
        structs = parsed.select(self._schema.names).to_struct_array().combine_chunks()
        if values.null_count:
            fields = [structs.field(index) for index in range(structs.type.num_fields)]
            structs = pa.StructArray.from_arrays(
                fields, fields=list(self._schema), mask=pc.is_null(values)
            )
        return structs.cast(self.type)

    def encode(self, values: pa.Array) -> pa.Array:
        """A column of structs to a column of JSON texts; times become text."""
        self._rows.register()
        serialize = self._rows.serialize
        encoded = [None if row is None else serialize(row) for row in values.to_pylist()]
        return pa.array(encoded, pa.binary())


def _without_header(values: pa.Array) -> pa.Array:
    bodies: list[bytes | None] = []
    for row, value in enumerate(values.to_pylist()):
        try:
            bodies.append(None if value is None else body_of(value))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from error
    return pa.array(bodies, pa.binary())


def _json_schema(kind: pa.DataType) -> dict[str, object]:
    """The JSON Schema of values of an Arrow type; of those that JSON lacks, that of texts."""
    if pa.types.is_struct(kind):
        fields = {field.name: _json_schema(field.type) for field in kind}
        return {"type": "object", "properties": fields}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return {"type": "array", "items": _json_schema(kind.value_type)}
    names = (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
    )
    return {"type": next((name for is_such, name in names if is_such(kind)), "string")}


def _check_ends(values: pa.Array) -> None:
    """Refuse rows that do not begin and end as an object does.

    The rows are parsed as one text. If all have such ends, none can be completed by the next, so
    that as many objects as rows are one in each.
    """
    is_plain = pc.and_(pc.starts_with(values, b"{"), pc.ends_with(values, b"}"))
    for row in pc.indices_nonzero(pc.invert(is_plain)).to_pylist():
        text = bytes(values[row].as_buffer()).strip(_WHITESPACE)
        if not (text.startswith(b"{") and text.endswith(b"}")):
            raise ValueError(_first_bad(values) or f"row {row} is not a JSON object")


def _first_bad(values: pa.Array) -> str | None:
    """What is wrong with the first row that is not one JSON object."""
    for row, value in enumerate(values):
        if value.is_valid:
            try:
                is_object = isinstance(json.loads(value.as_py()), dict)
            except ValueError as error:
                return f"row {row} is not JSON: {error}"
            if not is_object:
                return f"row {row} is not a JSON object"
    return None
