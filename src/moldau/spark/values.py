"""Values with a type: JSON, Avro and Protocol Buffers by schema, decoded by the tasks."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import DataType, StructType

if TYPE_CHECKING:
    from moldau.client.arrow.formats import ValueFormat
    from moldau.client.registry import Registry

JSON, AVRO, PROTOBUF = "json", "avro", "protobuf"
_FORMATS = (JSON, AVRO, PROTOBUF)
_FAIL, _NULL = "fail", "null"
IN_BASE64 = "base64:"
"""What descriptors begin with that are no file, but stand in the option itself."""


@dataclass(frozen=True, slots=True)
class ValueOptions:
    """The options about values: their format, its schema, and what becomes of bad ones.

    The schema is JSON for JSON and Avro, and a set of descriptors in base64 for Protocol Buffers.
    """

    kind: str
    schema: str
    message: str = ""
    registry: str = ""
    makes_bad_null: bool = False

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "ValueOptions | None":
        """Of options with lower-case names; a schema may be in a file, which is read here."""
        kind = given.get("valueformat", "").strip().lower()
        if not kind:
            return None
        if kind not in _FORMATS:
            raise ValueError(f"valueFormat: {kind!r} is none of {', '.join(_FORMATS)}")
        bad = given.get("badvalues", _FAIL).strip().lower()
        if bad not in (_FAIL, _NULL):
            raise ValueError(f"badValues: {bad!r} is neither {_FAIL} nor {_NULL}")
        schema = _schema_text(kind, given.get("valueschema", ""))
        message = given.get("valuemessage", "")
        if kind == PROTOBUF and not message:
            raise ValueError("valueMessage is missing: the full name of the message of the values")
        registry = given.get("schemaregistry", "")
        return cls(kind, schema, message, registry, makes_bad_null=bad == _NULL)

    def with_type(self, kind: DataType) -> "ValueOptions":
        """With the type that the user gave for the column; JSON has no other schema then."""
        if self.kind != JSON:
            return self
        if not isinstance(kind, StructType):
            raise TypeError(f"value: JSON objects are read as structs, not as {kind.typeName()}")
        return replace(self, schema=kind.json())


def value_type(options: ValueOptions) -> DataType:
    """The type of the column `value` in Spark."""
    if options.kind == JSON:
        return StructType.fromJson(json.loads(options.schema))
    return from_arrow_type(_for_spark(_format(options).type))


class TypedValues:
    """Decodes columns of values."""

    def __init__(self, options: ValueOptions) -> None:
        self._format = _format(options)
        self._makes_bad_null = options.makes_bad_null
        self._type = to_arrow_type(value_type(options), timezone="UTC")

    def decode(self, values: pa.Array) -> pa.Array:
        """Values in Spark's types; ValueError names the first bad row, if they are not null."""
        try:
            decoded = self._format.decode(values)
        except ValueError:
            if not self._makes_bad_null:
                raise
            decoded = self._decode_what_can_be(values)
        return decoded.cast(self._type)

    def _decode_what_can_be(self, values: pa.Array) -> pa.Array:
        rows = []
        for start in range(len(values)):
            row = values.slice(start, 1)
            try:
                rows.append(self._format.decode(row))
            except ValueError:
                rows.append(pa.nulls(1, self._format.type))
        return pa.concat_arrays(rows)


def _schema_text(kind: str, given: str) -> str:
    if not given:
        if kind == JSON:
            return StructType().json()  # until the user's own schema is seen
        raise ValueError(f"valueSchema is missing: the {kind} schema of the values, or its file")
    if given.lstrip()[:1] in ('{"['):
        return given
    if kind == PROTOBUF and given.startswith(IN_BASE64):
        return given.removeprefix(IN_BASE64)
    try:
        content = Path(given).read_bytes()
    except OSError as error:
        raise ValueError(f"valueSchema: {given!r} is neither a schema nor a file") from error
    return base64.b64encode(content).decode() if kind == PROTOBUF else content.decode()


def _format(options: ValueOptions) -> "ValueFormat":
    """Only the format that is asked for is imported: each has a library of its own."""
    if options.kind == JSON:
        from moldau.client.arrow.json_values import Json  # noqa: PLC0415

        declared = StructType.fromJson(json.loads(options.schema))
        if not declared.fields:
            raise ValueError("JSON needs the fields of the values: valueSchema, or .schema(...)")
        fields = to_arrow_type(declared, timezone="UTC")
        return Json(pa.schema(list(fields)), registry=_registry(options))
    if options.kind == AVRO:
        from moldau.client.arrow.avro_values import Avro  # noqa: PLC0415

        return Avro(options.schema, registry=_registry(options))
    from moldau.client.arrow.protobuf_values import Protobuf  # noqa: PLC0415

    descriptors = base64.b64decode(options.schema)
    return Protobuf.of_descriptors(descriptors, options.message, registry=_registry(options))


def _registry(options: ValueOptions) -> "Registry | None":
    from moldau.client.registry import Registry  # noqa: PLC0415

    return Registry(options.registry) if options.registry else None


def _for_spark(kind: pa.DataType) -> pa.DataType:
    """The nearest type that Spark has: it knows no unsigned numbers, and times in microseconds."""
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, _for_spark(each.type)) for each in kind])
    if pa.types.is_list(kind):
        return pa.list_(_for_spark(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_for_spark(kind.key_type), _for_spark(kind.item_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    return {pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0)}.get(kind, kind)
