"""Values in Avro, alone or with the header of a schema registry."""

import io
import json

import fastavro
import pyarrow as pa

from moldau.client.arrow.avro_types import arrow_type
from moldau.client.registry import HEADER_SIZE, Registry, Schema, put_header, schema_id_of


class Avro:
    """Records of one schema.

    With a registry, each value names the schema it was written with, which is resolved to this
    one; what is encoded is registered under `subject`, usually the topic's name and `-value`.
    """

    def __init__(
        self,
        schema: str | dict[str, object],
        *,
        registry: Registry | None = None,
        subject: str | None = None,
    ) -> None:
        declared = json.loads(schema) if isinstance(schema, str) else schema
        self._text = json.dumps(declared)
        self._schema = fastavro.parse_schema(declared)
        self._registry = registry
        self._subject = subject
        self._writers: dict[int, str | list[object] | dict[str, object]] = {}
        self.type = arrow_type(declared)

    def decode(self, values: pa.Array) -> pa.Array:
        """A column of Avro to a column of structs."""
        decoded = []
        for row, value in enumerate(values.to_pylist()):
            try:
                decoded.append(None if value is None else self._read(value))
            except (ValueError, EOFError, IndexError, TypeError, KeyError) as error:
                raise ValueError(f"row {row} is not Avro of this schema: {error}") from error
        return pa.array(decoded, self.type)

    def encode(self, values: pa.Array) -> pa.Array:
        """A column of structs to a column of Avro."""
        schema_id = None
        if self._registry is not None:
            if self._subject is None:
                raise ValueError("to write, a subject is needed: usually the topic and -value")
            schema_id = self._registry.register(self._subject, Schema(self._text))
        encoded: list[bytes | None] = []
        for row in values.to_pylist():
            if row is None:
                encoded.append(None)
                continue
            output = io.BytesIO()
            fastavro.schemaless_writer(output, self._schema, row)
            data = output.getvalue()
            encoded.append(data if schema_id is None else put_header(schema_id, data))
        return pa.array(encoded, pa.binary())

    def _read(self, value: bytes) -> object:
        if self._registry is None:
            return fastavro.schemaless_reader(io.BytesIO(value), self._schema, None)
        schema_id = schema_id_of(value)
        if schema_id not in self._writers:
            registered = json.loads(self._registry.schema(schema_id).text)
            self._writers[schema_id] = fastavro.parse_schema(registered)
        body = io.BytesIO(memoryview(value)[HEADER_SIZE:])
        return fastavro.schemaless_reader(body, self._writers[schema_id], self._schema)
