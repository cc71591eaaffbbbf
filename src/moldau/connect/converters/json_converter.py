"""JsonConverter: values as JSON, alone or in an envelope with their schema."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pyarrow as pa

from moldau.connect.config.values import flag
from moldau.connect.converters.json_columns import has_columns, structs_of
from moldau.connect.converters.json_envelopes import LastEnvelope
from moldau.connect.converters.json_readers import reader_of
from moldau.connect.converters.json_schema_nodes import node_of, schema_of_node
from moldau.connect.converters.json_text import json_text
from moldau.connect.converters.json_writers import JsonRules, text_writer_of
from moldau.connect.converters.per_schema import PerSchema
from moldau.connect.data.logical import to_stored
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import DECIMAL, Kind, Schema
from moldau.connect.errors import DataError

_SHOWN_BYTES = 80
_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
    "additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false "
    "in your converter configuration."
)


class JsonConverter:
    """`schemas.enable`, `decimal.format` and `replace.null.with.default` as Java has them."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        del is_key
        self._has_envelope = flag(settings, "schemas.enable", default=True)
        rules = JsonRules(
            settings.get("decimal.format", "BASE64").upper() == "NUMERIC",
            flag(settings, "replace.null.with.default", default=True),
        )
        self._writers = PerSchema(lambda _, schema: text_writer_of(schema, rules))
        self._readers = PerSchema(lambda _, schema: reader_of(schema))
        self._envelopes = LastEnvelope()
        self._nodes = PerSchema(lambda _, schema: json_text(node_of(schema)))

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """A null value is a tombstone, with an envelope too."""
        del topic
        if datum.value is None and (
            not self._has_envelope or datum.schema is None or datum.schema.optional
        ):
            return None
        payload = self._payload(datum)
        if not self._has_envelope:
            return payload.encode()
        return f'{{"schema":{self._schema_text(datum.schema)},"payload":{payload}}}'.encode()

    def _payload(self, datum: Datum) -> str:
        if datum.schema is None:
            return json_text(plain(datum.value))
        return self._writers.of("", datum.schema)(datum.value)

    def _schema_text(self, schema: Schema | None) -> str:
        if schema is None:
            return "null"
        return self._nodes.of("", schema)

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """Plain JSON has no schema: its objects are maps."""
        del topic
        if data is None:
            return NULL
        known = self._envelopes.of(data) if self._has_envelope else None
        if known is not None:
            return self._datum(*known)
        try:
            found = json.loads(data)
        except ValueError as error:
            shown = data[:_SHOWN_BYTES]
            raise DataError(
                "Converting byte[] to Kafka Connect data failed due to serialization error: "
                f"{error}: {shown!r}"
            ) from error
        if not self._has_envelope:
            return Datum(found)
        if not isinstance(found, dict) or set(found) != {"schema", "payload"}:
            raise DataError(f"{_NO_ENVELOPE} The record begins with {data[:_SHOWN_BYTES]!r}.")
        schema = schema_of_node(found["schema"])
        self._envelopes.note(data, schema)
        return self._datum(schema, found["payload"])

    def structs(self, data: Sequence[bytes | None]) -> tuple[Schema, pa.Array] | None:
        """The schema and the values of many, if `from_bytes` gives the same for each.

        None if they are to be read one after the other.
        """
        known = self._envelopes.known if self._has_envelope else None
        if known is None or not has_columns(known[1]):
            return None
        prefix, schema = known
        found = structs_of(schema, prefix, data)
        return None if found is None else (schema, found)

    def _datum(self, schema: Schema | None, payload: object) -> Datum:
        if schema is None:
            return Datum(payload)
        if payload is None:
            return Datum(schema.default, schema)
        return Datum(self._readers.of("", schema)(payload), schema)


def stored_as(schema: Schema, value: object, *, is_numeric: bool) -> object:
    """A value as JSON has it, with Decimals in base64 or as numbers."""
    return _numeric(schema, value) if is_numeric else to_stored(schema, value)


def _numeric(schema: Schema, value: object) -> object:
    """Decimals as numbers."""
    if schema.name == DECIMAL and isinstance(value, Decimal):
        return float(value) if value.as_tuple().exponent else int(value)
    if schema.kind is Kind.STRUCT and isinstance(value, dict):
        return {each.name: _numeric(each.schema, value.get(each.name)) for each in schema.fields}
    if schema.kind is Kind.ARRAY and isinstance(value, list) and schema.value is not None:
        return [_numeric(schema.value, each) for each in value]
    return to_stored(schema, value)


def plain(value: object) -> object:
    """A value without a schema, as JSON can say it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    raise DataError(f"Couldn't convert value of type {type(value).__name__} to JSON.")
