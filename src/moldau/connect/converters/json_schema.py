"""JsonSchemaConverter: values in JSON, their schemas in a registry."""

import json
from collections.abc import Callable, Mapping

from moldau.client.registry import Schema as RegisteredSchema
from moldau.client.registry import SubjectName, body_of, header_for, schema_id_of
from moldau.connect.config.values import flag
from moldau.connect.converters.json_converter import stored_as
from moldau.connect.converters.json_schema_documents import document_of, schema_of_document
from moldau.connect.converters.json_text import json_text
from moldau.connect.converters.json_unions import has_union, read_unions, write_unions
from moldau.connect.converters.per_schema import PerSchema
from moldau.connect.converters.registered import registry_errors, registry_of
from moldau.connect.data.logical import from_stored
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import Schema
from moldau.connect.errors import DataError


class JsonSchemaConverter:
    """`decimal.format` and `use.optional.for.nonrequired` as Java has them."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        self._registry = registry_of(settings)
        self._is_key = is_key
        self._is_numeric = settings.get("decimal.format", "BASE64").upper() == "NUMERIC"
        self._unrequired_optional = flag(settings, "use.optional.for.nonrequired", default=False)
        self._writers = PerSchema(self._writer)
        self._read: dict[int, Schema] = {}

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """A tombstone stays one."""
        if datum.value is None:
            return None
        if datum.schema is None:
            raise DataError("JSON Schema needs values with a schema: those of plain JSON have none")
        with registry_errors(f"Failed to serialize JSON Schema data from topic {topic}"):
            return self._writers.of(topic, datum.schema)(datum.value)

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """The value with the schema that it was written with."""
        if data is None:
            return NULL
        with registry_errors(f"Failed to deserialize data for topic {topic} to JSON Schema"):
            schema_id = schema_id_of(data)
            if schema_id not in self._read:
                registered = self._registry.schema(schema_id)
                others = {name: each.text for name, each in self._registry.used_by(registered)}
                self._read[schema_id] = schema_of_document(
                    registered.text, others, unrequired_optional=self._unrequired_optional
                )
            schema = self._read[schema_id]
            read = read_unions if has_union(schema) else from_stored
            return Datum(read(schema, json.loads(body_of(data))), schema)

    def _writer(self, topic: str, schema: Schema) -> Callable[[object], bytes]:
        text = json.dumps(document_of(schema.but(optional=False)))
        subject = SubjectName.TOPIC.of(topic, is_key=self._is_key)
        header = header_for(self._registry, subject, RegisteredSchema(text, "JSON"))

        def stored(of: Schema, value: object) -> object:
            return stored_as(of, value, is_numeric=self._is_numeric)

        if has_union(schema):
            return lambda value: header + json_text(write_unions(schema, value, stored)).encode()
        return lambda value: header + json_text(stored(schema, value)).encode()
