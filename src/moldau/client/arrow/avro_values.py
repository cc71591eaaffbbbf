"""Columns of values in Avro, alone or with the header of a schema registry."""

import json

import pyarrow as pa

from moldau.client.arrow.avro_types import arrow_type
from moldau.client.registry import Registry
from moldau.client.serdes.avro import AvroSerde


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
        self._rows = AvroSerde(declared, registry=registry, subject=subject)
        self.type = arrow_type(declared)

    def decode(self, values: pa.Array) -> pa.Array:
        """A column of Avro to a column of structs."""
        decoded = []
        for row, value in enumerate(values.to_pylist()):
            try:
                decoded.append(None if value is None else self._rows.deserialize(value))
            except ValueError as error:
                raise ValueError(f"row {row} is not Avro of this schema: {error}") from error
        return pa.array(decoded, self.type)

    def encode(self, values: pa.Array) -> pa.Array:
        """A column of structs to a column of Avro."""
        self._rows.register()
        serialize = self._rows.serialize
        encoded = [None if row is None else serialize(row) for row in values.to_pylist()]
        return pa.array(encoded, pa.binary())
