"""Values of whatever schema the registry has for them, as JSON: for those who look at topics.

Avro and Protobuf are written as their own rules for JSON say: a union names its type, a long of
Protobuf is text.
"""

import json
from collections.abc import Callable

from moldau.client.registry import Registry, Schema, body_of, put_header, schema_id_of

AVRO, JSON, PROTOBUF = "AVRO", "JSON", "PROTOBUF"

Reader = Callable[[bytes], str]


class RegisteredValues:
    """Reads values; each schema is asked for once. `moldau[schemas]` is needed for all but JSON."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._readers: dict[int, Reader] = {}

    def kind_of(self, data: bytes) -> str:
        """AVRO, JSON or PROTOBUF; ValueError if the value names no schema."""
        return self._registry.schema(schema_id_of(data)).kind

    def text(self, data: bytes) -> str:
        """The JSON of a value, on one line; ValueError if it is none of its schema."""
        schema_id, body = schema_id_of(data), body_of(data)
        if schema_id not in self._readers:
            self._readers[schema_id] = self._reader(schema_id)
        return self._readers[schema_id](body)

    def data(self, schema: int | str, text: str) -> bytes:
        """A value of a schema by its number, or of the newest of a subject, from its JSON.

        ValueError if it is none; RegistryError if there is no such schema.
        """
        if isinstance(schema, str):
            schema_id, found = self._registry.latest(schema)
        else:
            schema_id, found = schema, self._registry.schema(schema)
        return put_header(schema_id, self._writer(schema_id, found)(text))

    def _writer(self, schema_id: int, schema: Schema) -> Callable[[str], bytes]:
        if schema.kind == AVRO:
            from moldau.client.serdes.avro import json_writer  # noqa: PLC0415 - needs fastavro

            return json_writer(schema, self._registry)
        if schema.kind == PROTOBUF:
            from moldau.client.serdes.described import message_writer  # noqa: PLC0415 - protobuf

            return message_writer(schema_id, self._registry)
        if schema.kind == JSON:
            return _json_writer
        raise ValueError(f"schema {schema_id} is of an unknown kind: {schema.kind}")

    def _reader(self, schema_id: int) -> Reader:
        schema = self._registry.schema(schema_id)
        if schema.kind == AVRO:
            from moldau.client.serdes.avro import json_reader  # noqa: PLC0415 - needs fastavro

            return json_reader(schema, self._registry)
        if schema.kind == PROTOBUF:
            from moldau.client.serdes.described import message_reader  # noqa: PLC0415 - protobuf

            return message_reader(schema_id, self._registry)
        if schema.kind == JSON:
            return _json_reader
        raise ValueError(f"schema {schema_id} is of an unknown kind: {schema.kind}")


def _json_reader(body: bytes) -> str:
    return json.dumps(json.loads(body), ensure_ascii=False)


def _json_writer(text: str) -> bytes:
    json.loads(text)
    return text.encode()
