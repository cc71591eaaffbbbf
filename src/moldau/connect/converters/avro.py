"""AvroConverter: values in Avro, their schemas in a registry."""

import json
from collections.abc import Mapping

from moldau.client.registry import Schema as RegisteredSchema
from moldau.client.registry import SubjectName, schema_id_of
from moldau.client.serdes.avro import AvroSerde
from moldau.connect.converters.avro_schemas import avro_of, from_avro, schema_of_avro, to_avro
from moldau.connect.converters.registered import registry_errors, registry_of
from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import Schema
from moldau.connect.errors import DataError


class AvroConverter:
    """`schema.registry.url`, `auto.register.schemas` and `use.latest.version` as Java has them."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        self._registry = registry_of(settings)
        self._is_key = is_key
        self._writers: dict[tuple[str, str], AvroSerde] = {}
        self._reader = AvroSerde(registry=self._registry)
        self._read: dict[int, Schema] = {}

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """A tombstone stays one."""
        if datum.value is None:
            return None
        if datum.schema is None:
            raise DataError("Avro needs values with a schema: those of plain JSON have none")
        declared = avro_of(datum.schema.but(optional=False))
        text = json.dumps(declared)
        if (topic, text) not in self._writers:
            subject = SubjectName.TOPIC.of(topic, is_key=self._is_key)
            self._writers[topic, text] = AvroSerde(text, registry=self._registry, subject=subject)
        with registry_errors(f"Failed to serialize Avro data from topic {topic}"):
            return self._writers[topic, text].serialize(to_avro(datum.schema, datum.value))

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """The value with the schema that it was written with."""
        if data is None:
            return NULL
        with registry_errors(f"Failed to deserialize data for topic {topic} to Avro"):
            schema_id = schema_id_of(data)
            if schema_id not in self._read:
                registered: RegisteredSchema = self._registry.schema(schema_id)
                self._read[schema_id] = schema_of_avro(json.loads(registered.text))
            schema = self._read[schema_id]
            return Datum(from_avro(schema, self._reader.deserialize(data)), schema)
