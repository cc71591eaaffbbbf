"""A schema of any of the three kinds: read, brought into its canonical form, compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.registry.failures import InvalidSchema
from moldau.registry.levels import Difference
from moldau.registry.records import AVRO, JSON, PROTOBUF
from moldau.registry.schemas import (
    avro,
    avro_reading,
    json_reading,
    json_schema,
    proto_files,
    proto_reading,
)
from moldau.registry.schemas.avro import AvroType, Names
from moldau.registry.schemas.json_schema import JsonDocuments, JsonPlace
from moldau.registry.schemas.proto_files import ProtoFile
from moldau.registry.schemas.proto_text import proto_text
from moldau.web.nesting import DEPTH_MAX, depth

KINDS = (AVRO, JSON, PROTOBUF)


@dataclass(frozen=True, slots=True)
class ParsedSchema:
    """A schema that is one."""

    kind: str
    text: str
    """Its canonical form: two schemas are the same if these are."""
    body: AvroType | JsonDocuments | ProtoFile
    names: Mapping[str, AvroType]
    """What an Avro schema declares, and what it got to know from others."""

    @property
    def serialized(self) -> str:
        """In the form that `format=serialized` asks for."""
        return proto_files.serialized(self.body) if isinstance(self.body, ProtoFile) else self.text


def parse_schema(
    kind: str,
    text: str,
    others: Mapping[str, ParsedSchema],
    *,
    normalize: bool = False,
    is_new: bool = True,
) -> ParsedSchema:
    """A schema from its text and those that it refers to, by the names in it.

    One that is stored already is looked at less closely.
    """
    try:
        if kind == AVRO:
            return _avro(text, others, normalize, is_new)
        if kind == JSON:
            return _json(text, others, normalize)
        if kind == PROTOBUF:
            return _protobuf(text, others, normalize)
    except RecursionError:
        raise InvalidSchema(f"Invalid schema of type {kind}, details: nested too deep") from None
    except InvalidSchema as error:
        message = f"Invalid schema of type {kind}, details: {error.message}"
        raise InvalidSchema(message) from error
    raise InvalidSchema(f"Invalid schema type {kind}")


def differences(reader: ParsedSchema, writer: ParsedSchema) -> list[Difference]:
    """Why the first cannot read what is written with the second: nothing if it can."""
    try:
        match reader.body, writer.body:
            case AvroType() as read, AvroType() as written:
                return avro_reading.differences(read, written)
            case JsonDocuments() as read, JsonDocuments() as written:
                places = JsonPlace(read, read.root), JsonPlace(written, written.root)
                return json_reading.differences(*places)
            case ProtoFile() as read, ProtoFile() as written:
                return proto_reading.differences(read, written)
    except RecursionError:
        raise InvalidSchema("Invalid schema, details: nested too deep to be compared") from None
    detail = f"{reader.kind} does not read {writer.kind}"
    return [Difference("DIFFERENT_SCHEMA_TYPE", "/", detail)]


def _avro(
    text: str, others: Mapping[str, ParsedSchema], normalize: bool, is_new: bool
) -> ParsedSchema:
    names: Names = {}
    for each in others.values():
        names |= each.names
    known = set(names)
    body = avro.parse(_load_json(text), names, is_new=is_new)
    return ParsedSchema(AVRO, avro.canonical(body, known=known, is_sorted=normalize), body, names)


def _json(text: str, others: Mapping[str, ParsedSchema], normalize: bool) -> ParsedSchema:
    declared = _load_json(text)
    documents = {
        name: each.body for name, each in others.items() if isinstance(each.body, JsonDocuments)
    }
    body = json_schema.load(declared, documents)
    return ParsedSchema(JSON, json_schema.canonical(declared, is_sorted=normalize), body, {})


def _protobuf(text: str, others: Mapping[str, ParsedSchema], normalize: bool) -> ParsedSchema:
    files = {name: each.body for name, each in others.items() if isinstance(each.body, ProtoFile)}
    body = proto_files.load(text, files)
    written = body.resolved if normalize else body.written
    return ParsedSchema(PROTOBUF, proto_text(written, is_sorted=normalize), body, {})


def _load_json(text: str) -> object:
    if depth(text) > DEPTH_MAX:
        raise InvalidSchema(f"JSON is nested deeper than {DEPTH_MAX}")
    try:
        declared: object = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        raise InvalidSchema(f"no JSON: {error}") from error
    return declared


def _no_constant(word: str) -> object:
    raise InvalidSchema(f"{word} is no JSON")
