"""What the records of a topic look like, as far as a sample of them shows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

TEXT, BYTES, LONG, INTEGER, JSON = "text", "bytes", "bigint", "int", "json"
AVRO, PROTOBUF = "avro", "protobuf"
_SIZES = {8: LONG, 4: INTEGER}
_BIGINT_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TopicShape:
    """The kinds of values and keys.

    `schema` is a list of columns for JSON, the schema itself for Avro, and a set of descriptors in
    base64 for Protocol Buffers, of which values are the `message`.
    """

    value: str = TEXT
    schema: str = ""
    key: str = TEXT
    message: str = ""
    has_header: bool = False
    """Whether a registry's header stands before each value."""

    def with_key(self, key: str) -> "TopicShape":
        return replace(self, key=key)


@dataclass(frozen=True, slots=True)
class _Array:
    of: "_Kind"


@dataclass(frozen=True, slots=True)
class _Object:
    fields: "Mapping[str, _Kind]"


# Of a null nothing is known.
_Kind = str | _Array | _Object | None


def shape_of(values: Iterable[bytes | None], keys: Iterable[bytes | None] = ()) -> TopicShape:
    """The shape of a topic by a sample of its records."""
    sample = [value for value in values if value is not None]
    key, _ = _kind_of([each for each in keys if each is not None])
    value, schema = _kind_of(sample, may_be_json=True)
    return TopicShape(value, schema, key)


def columns_of_json(texts: Iterable[bytes]) -> str | None:
    """The columns of JSON objects, as SQL writes them; None if a text is no object."""
    merged: _Kind = _Object({})
    for text in texts:
        try:
            found = json.loads(text)
        except ValueError:
            return None
        if not isinstance(found, dict):
            return None
        merged = _merged(merged, _kind(found))
    assert isinstance(merged, _Object)
    return ", ".join(f"{_quoted(name)} {_ddl(kind)}" for name, kind in merged.fields.items())


def _kind_of(sample: Sequence[bytes], *, may_be_json: bool = False) -> tuple[str, str]:
    columns = columns_of_json(sample) if sample and may_be_json else None
    if columns:
        return JSON, columns
    if all(_is_text(each) for each in sample):
        return TEXT, ""
    sizes = {len(each) for each in sample}
    # Kafka's serializers of numbers write them in 8 or 4 bytes, without anything to know them by.
    return _SIZES.get(sizes.pop(), BYTES) if len(sizes) == 1 else BYTES, ""


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(each.isprintable() or each.isspace() for each in text)


def _kind(value: object) -> _Kind:
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case int():
            return "bigint" if abs(value) <= _BIGINT_MAX else "double"
        case float():
            return "double"
        case list():
            of: _Kind = None
            for each in value:
                of = _merged(of, _kind(each))
            return _Array(of)
        case dict():
            return _Object({str(name): _kind(each) for name, each in value.items()})
    return "string"


def _merged(one: _Kind, other: _Kind) -> _Kind:
    """A type that has room for both; text has room for anything."""
    if one == other or other is None:
        return one
    if one is None:
        return other
    if isinstance(one, _Array) and isinstance(other, _Array):
        return _Array(_merged(one.of, other.of))
    if isinstance(one, _Object) and isinstance(other, _Object):
        names = {**one.fields, **other.fields}
        return _Object(
            {name: _merged(one.fields.get(name), other.fields.get(name)) for name in names}
        )
    return "double" if {one, other} == {"bigint", "double"} else "string"


def _ddl(kind: _Kind) -> str:
    match kind:
        case _Array(of):
            return f"array<{_ddl(of)}>"
        case _Object(fields) if fields:
            inner = ", ".join(f"{_quoted(name)}: {_ddl(each)}" for name, each in fields.items())
            return f"struct<{inner}>"
        case str():
            return kind
    return "string"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
