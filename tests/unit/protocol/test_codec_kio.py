"""Our bytes against kio's, for every message and version that both have.

kio has one class per version and richer types (time spans, error codes), so that
values are compared field by field, with the rich ones turned into numbers.
"""

import dataclasses
import datetime as dt
import enum
import io
import re
import uuid
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.schema import Field, fields_of
from unit.protocol.catalogue import all_messages, fitted, instances

Kind = Literal[EntityType.header, EntityType.data, EntityType.response, EntityType.request]
_KINDS: dict[str, Kind] = {"Request": EntityType.request, "Response": EntityType.response}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)


def kio_name(cls: type) -> tuple[str, Kind]:
    words = re.sub("(?!^)([A-Z])", r"_\1", cls.__name__).lower()
    for suffix, kind in _KINDS.items():
        if cls.__name__.endswith(suffix):
            return words.removesuffix(f"_{suffix.lower()}"), kind
    return words, EntityType.data


def shared_versions(cls: type) -> list[int]:
    name, kind = kio_name(cls)
    theirs = schema_name_map.get(name, {})
    return [v for v in facts_of(cls).versions if kind in theirs.get(v, {})]


SHARED = [cls for cls in all_messages() if shared_versions(cls)]


def test_kio_has_the_client_apis_in_recent_versions() -> None:
    assert len(SHARED) > 100
    assert sum(len(shared_versions(cls)) for cls in SHARED) > 400


@pytest.mark.parametrize("cls", SHARED, ids=lambda cls: cls.__name__)
@settings(
    max_examples=6,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_kio_reads_our_bytes_and_writes_the_same(cls: type, data: st.DataObject) -> None:
    message = acceptable(data.draw(instances(cls)))
    name, kind = kio_name(cls)
    for version in shared_versions(cls):
        ours = fitted(message, version)
        encoded = encode(ours, version)
        their_class = load_entity_schema(name, version, kind)
        theirs, size = entity_reader(their_class)(encoded, 0)
        assert size == len(encoded)
        assert_same(ours, theirs, version)
        buffer = io.BytesIO()
        entity_writer(their_class)(buffer, theirs)
        assert buffer.getvalue() == encoded
        assert decode(cls, version, buffer.getvalue()) == (ours, len(encoded))


def acceptable(message: Any) -> Any:
    """The message with numbers that kio's time spans and error codes can hold."""
    for field in fields_of(type(message)):
        value = getattr(message, field.name)
        if field.struct is not None and value is not None:
            for item in value if field.is_array else [value]:
                acceptable(item)
        elif field.name.endswith("error_code"):
            setattr(message, field.name, value % 100)
        elif re.search("_ms$|timestamp|_time$", field.name) and isinstance(value, int):
            setattr(message, field.name, value % 2**31)
    return message


def assert_same(ours: Any, theirs: Any, version: int) -> None:
    fields = [field for field in fields_of(type(ours)) if field.is_in(version)]
    their_fields = dataclasses.fields(theirs)
    assert len(fields) == len(their_fields)
    for field, their_field in zip(fields, their_fields, strict=True):
        assert field.name.startswith(their_field.name.rstrip("_")), field.name
        value, their_value = getattr(ours, field.name), getattr(theirs, their_field.name)
        if field.struct is None or value is None:
            assert_same_value(field, value, their_value)
        elif field.is_array:
            assert len(value) == len(their_value)
            for item, their_item in zip(value, their_value, strict=True):
                assert_same(item, their_item, version)
        else:
            assert_same(value, their_value, version)


def assert_same_value(field: Field, value: Any, theirs: Any) -> None:
    if field.is_array and value is not None:
        assert value == [plain(item) for item in theirs]
    elif value is None and field.struct is not None and not field.is_array and theirs is not None:
        # A tag that is absent: kio shows the struct with its defaults.
        assert theirs == type(theirs)()
    elif field.primitive is not None and field.primitive.name == "uuid":
        assert value == (bytes(16) if theirs is None else plain(theirs))
    else:
        assert value == plain(theirs)


def plain(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, dt.timedelta):
        return value // _MILLISECOND
    if isinstance(value, dt.datetime):
        return (value - _EPOCH) // _MILLISECOND
    return value.value if isinstance(value, enum.Enum) else value
