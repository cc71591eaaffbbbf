"""Values in Avro, alone or with the header of a schema registry."""

import io
import json
from collections.abc import Callable, Sequence

import fastavro

from moldau.client.registry import (
    HEADER_SIZE,
    Reference,
    Registry,
    Schema,
    header_for,
    put_header,
    schema_id_of,
)
from moldau.client.serdes.avro_bounds import AvroTooLarge, check_bounds

Declared = str | list[object] | dict[str, object]
_Named = dict[str, dict[str, object]]
_NO_VALUE = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(EOFError, OverflowError, StopIteration, RecursionError),
)


class AvroSerde:
    """Records of one schema, as dictionaries.

    With a registry, each value names the schema it was written with, which is resolved to this
    one, or taken as it is if none is given. What is written is registered under `subject`, usually
    the topic's name and `-value`; without a schema, or with `use_latest`, it is written in the
    newest of the subject. A schema may use others that are registered: `references` says where,
    and the registry is asked for them at once.
    """

    def __init__(
        self,
        schema: Declared | None = None,
        *,
        registry: Registry | None = None,
        subject: str | None = None,
        references: Sequence[Reference] = (),
    ) -> None:
        if registry is None and (schema is None or references):
            raise ValueError("Avro needs a schema, or a registry that has it or what it uses")
        self._registry = registry
        self._subject = subject
        self._declared = None if schema is None else _load(schema)
        self._references = tuple(references)
        self._schema = None if self._declared is None else self._parse(self._own())
        self._writers: dict[int, Declared] = {}
        self._writing: tuple[Declared, bytes] | None = None

    def register(self) -> None:
        """Have the schema registered now, not with the first value that is written."""
        self._for_writing()

    def serialize(self, value: object) -> bytes:
        """The bytes of a record; ValueError if it is none of the schema."""
        schema, header = self._for_writing()
        output = io.BytesIO()
        output.write(header)
        try:
            fastavro.schemaless_writer(output, schema, value)
        except (TypeError, KeyError, OverflowError, AttributeError) as error:
            raise ValueError(f"no value of this Avro schema: {error}") from error
        return output.getvalue()

    def deserialize(self, data: bytes) -> object:
        """The record of these bytes; ValueError if they are none."""
        try:
            return self._read(data)
        except (EOFError, IndexError, TypeError, KeyError) as error:
            raise ValueError(f"not Avro of this schema: {error}") from error

    def _read(self, data: bytes) -> object:
        if self._registry is None:
            assert self._schema is not None, "there is a schema or a registry"
            return fastavro.schemaless_reader(io.BytesIO(data), self._schema, None)
        body = io.BytesIO(memoryview(data)[HEADER_SIZE:])
        writer = self._written_with(schema_id_of(data), self._registry)
        return fastavro.schemaless_reader(body, writer, self._schema)

    def _written_with(self, schema_id: int, registry: Registry) -> Declared:
        if schema_id not in self._writers:
            self._writers[schema_id] = parse_registered(registry.schema(schema_id), registry)
        return self._writers[schema_id]

    def _for_writing(self) -> tuple[Declared, bytes]:
        """The schema, and what goes before each value; asked for once."""
        if self._writing is None:
            takes_newest = self._registry is not None and self._registry.use_latest
            if self._schema is not None and not takes_newest:
                header = header_for(self._registry, self._subject, self._own())
                self._writing = self._schema, header
            else:
                self._writing = self._newest()
        return self._writing

    def _newest(self) -> tuple[Declared, bytes]:
        assert self._registry is not None, "there is a schema or a registry"
        if self._subject is None:
            raise ValueError("to write, a schema is needed, or a subject that has one")
        schema_id, schema = self._registry.latest(self._subject)
        return self._parse(schema), put_header(schema_id, b"")

    def _own(self) -> Schema:
        return Schema(json.dumps(self._declared), references=self._references)

    def _parse(self, schema: Schema) -> Declared:
        return parse_registered(schema, self._registry)


def parse_registered(schema: Schema, registry: Registry | None) -> Declared:
    """A schema as fastavro takes it, with what it uses; that is asked of the registry."""
    return _parse_named(schema, registry)[0]


def _parse_named(schema: Schema, registry: Registry | None) -> tuple[Declared, _Named]:
    """The schema, and all types by their full names."""
    names: _Named = {}
    if registry is not None:
        for _, used in registry.used_by(schema):
            fastavro.parse_schema(_load(used.text), named_schemas=names)
    parsed: Declared = fastavro.parse_schema(_load(schema.text), named_schemas=names)
    return parsed, names


def json_reader(schema: Schema, registry: Registry) -> Callable[[bytes], str]:
    """How the values of a schema become JSON, in which a union names its type.

    Those who look at topics read values of anybody, so what would take too much is refused.
    """
    parsed, names = _parse_named(schema, registry)

    def read(body: bytes) -> str:
        output = io.StringIO()
        try:
            check_bounds(body, parsed, names)
            value = fastavro.schemaless_reader(
                io.BytesIO(body), parsed, None, return_record_name=True
            )
            fastavro.json_writer(output, parsed, [value])
        except AvroTooLarge:
            raise
        except (EOFError, IndexError, TypeError, KeyError, ValueError) as error:
            raise ValueError(f"not Avro of its schema: {error}") from error
        return output.getvalue()

    return read


def json_writer(schema: Schema, registry: Registry) -> Callable[[str], bytes]:
    """How JSON as `json_reader` makes it becomes values of a schema."""
    parsed = parse_registered(schema, registry)

    def write(text: str) -> bytes:
        output = io.BytesIO()
        try:
            value = next(iter(fastavro.json_reader(io.StringIO(text), parsed)))
            fastavro.schemaless_writer(output, parsed, value)
        except _NO_VALUE as error:
            raise ValueError(f"no JSON of this Avro schema: {error}") from error
        return output.getvalue()

    return write


def _load(schema: Declared) -> Declared:
    """A schema as Python's objects; what is no JSON is the name of a type."""
    if isinstance(schema, str) and schema.lstrip()[:1] in ('{["'):
        declared: Declared = json.loads(schema)
        return declared
    return schema
