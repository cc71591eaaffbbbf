"""What stands in the topic `_schemas`: Confluent's keys and values, byte for byte.

Keys and values are JSON without spaces, their fields in the order in which Confluent's
registry writes them. Fields of a value that this registry does not know are kept, so that a
topic that goes back to Confluent's has lost nothing. An aborted or foreign record is rubbish
and passed over.

The value of a NOOP record, which Confluent's ignores, holds the highest id that was ever given:
without it, an id whose last schema was deleted for ever could be given again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

AVRO, JSON, PROTOBUF = "AVRO", "JSON", "PROTOBUF"

_NOTHING: Mapping[str, object] = MappingProxyType({})
_KNOWN = ("subject", "version", "id", "schemaType", "references", "schema", "deleted")
_HIGHEST_ID = "highestId"


class Rubbish(ValueError):
    """Bytes that are no record of a registry."""


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another one uses, by the name that stands in its text."""

    name: str
    subject: str
    version: int

    def as_json(self) -> dict[str, object]:
        """As it stands in records, requests and answers."""
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """A version of a subject."""

    subject: str
    version: int
    schema_id: int
    text: str
    kind: str = AVRO
    references: tuple[SchemaReference, ...] = ()
    is_deleted: bool = False
    others: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    """What newer releases of Confluent's keep there too."""


@dataclass(frozen=True, slots=True)
class SchemaRecord:
    """SCHEMA: a version of a subject, or that it is gone for ever."""

    subject: str
    version: int
    value: StoredSchema | None


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """CONFIG: the settings of a subject or, if that is None, of all; None takes them away."""

    subject: str | None
    value: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class ModeRecord:
    """MODE: whether a subject, or everything, may be written to."""

    subject: str | None
    mode: str | None


@dataclass(frozen=True, slots=True)
class SubjectDeletion:
    """DELETE_SUBJECT: all versions up to this one are deleted; None: forget that they were."""

    subject: str
    version: int | None


@dataclass(frozen=True, slots=True)
class SubjectClearing:
    """CLEAR_SUBJECT: forget the deleted versions of a subject."""

    subject: str


@dataclass(frozen=True, slots=True)
class NoopRecord:
    """NOOP: by which a new leader sees that it has read everything."""

    highest_id: int = 0


RegistryRecord = (
    SchemaRecord | ConfigRecord | ModeRecord | SubjectDeletion | SubjectClearing | NoopRecord
)


def encode(record: RegistryRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    match record:
        case SchemaRecord(subject, version, value):
            key: dict[str, object] = {"subject": subject, "version": version}
            return _key("SCHEMA", key, magic=1), None if value is None else _encode_schema(value)
        case ConfigRecord(subject_or_all, settings):
            key = {"subject": subject_or_all}
            return _key("CONFIG", key), None if settings is None else _dump(settings)
        case ModeRecord(subject_or_all, mode):
            key = {"subject": subject_or_all}
            return _key("MODE", key), None if mode is None else _dump({"mode": mode})
        case SubjectDeletion(subject, last):
            body = None if last is None else _dump({"subject": subject, "version": last})
            return _key("DELETE_SUBJECT", {"subject": subject}), body
        case SubjectClearing(subject):
            return _key("CLEAR_SUBJECT", {"subject": subject}), _dump({"subject": subject})
        case NoopRecord(highest_id):
            return _key("NOOP", {}), _dump({_HIGHEST_ID: highest_id}) if highest_id else None


def decode(key: bytes | None, value: bytes | None) -> RegistryRecord:
    """The record of these bytes; Rubbish if it is none."""
    named = _load(key)
    body = None if value is None else value
    match named.get("keytype"):
        case "SCHEMA":
            subject, version = _text(named, "subject"), _number(named, "version")
            found = None if body is None else _decode_schema(_load(body), subject, version)
            return SchemaRecord(subject, version, found)
        case "CONFIG":
            return ConfigRecord(_text_or_none(named), None if body is None else _load(body))
        case "MODE":
            mode = None if body is None else _text(_load(body), "mode")
            return ModeRecord(_text_or_none(named), mode)
        case "DELETE_SUBJECT":
            last = None if body is None else _number(_load(body), "version")
            return SubjectDeletion(_text(named, "subject"), last)
        case "CLEAR_SUBJECT":
            return SubjectClearing(_text(named, "subject"))
        case "NOOP":
            highest = None if body is None else _load(body).get(_HIGHEST_ID)
            return NoopRecord(highest if isinstance(highest, int) else 0)
        case kind:
            raise Rubbish(f"no record of a registry is a {kind!r}")


def _encode_schema(schema: StoredSchema) -> bytes:
    body: dict[str, object] = {
        "subject": schema.subject,
        "version": schema.version,
        "id": schema.schema_id,
    }
    if schema.kind != AVRO:
        body["schemaType"] = schema.kind
    if schema.references:
        body["references"] = [each.as_json() for each in schema.references]
    body |= {**schema.others, "schema": schema.text, "deleted": schema.is_deleted}
    return _dump(body)


def _decode_schema(body: Mapping[str, object], subject: str, version: int) -> StoredSchema:
    if (body.get("subject", subject), body.get("version", version)) != (subject, version):
        raise Rubbish("key and value are of different versions")
    listed = body.get("references") or []
    if not isinstance(listed, list):
        raise Rubbish("references are a list")
    others = {name: value for name, value in body.items() if name not in _KNOWN}
    return StoredSchema(
        subject,
        version,
        _number(body, "id"),
        _text(body, "schema"),
        _text(body, "schemaType") if body.get("schemaType") else AVRO,
        tuple(map(_reference, listed)),
        body.get("deleted") is True,
        others or _NOTHING,
    )


def _reference(body: object) -> SchemaReference:
    if not isinstance(body, dict):
        raise Rubbish("a reference is an object")
    return SchemaReference(_text(body, "name"), _text(body, "subject"), _number(body, "version"))


def _key(kind: str, names: Mapping[str, object], *, magic: int = 0) -> bytes:
    return _dump({"keytype": kind, **names, "magic": magic})


def _dump(body: Mapping[str, object]) -> bytes:
    return json.dumps(dict(body), separators=(",", ":"), ensure_ascii=False).encode()


def _load(data: bytes | None) -> dict[str, object]:
    if data is None:
        raise Rubbish("a record of a registry has a key")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Rubbish(f"no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Rubbish("keys and values are objects")
    return found


def _text(body: Mapping[str, object], name: str) -> str:
    found = body.get(name)
    if not isinstance(found, str):
        raise Rubbish(f"{name} is a text")
    return found


def _text_or_none(body: Mapping[str, object]) -> str | None:
    return None if body.get("subject") is None else _text(body, "subject")


def _number(body: Mapping[str, object], name: str) -> int:
    found = body.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise Rubbish(f"{name} is a number")
    return found
