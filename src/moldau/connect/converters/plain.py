"""Converters of texts, bytes and single numbers."""

import datetime as dt
import struct
from collections.abc import Mapping

from moldau.connect.data.record import NULL, Datum
from moldau.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    STRING,
    Schema,
    optional,
)
from moldau.connect.errors import DataError


class StringConverter:
    """UTF-8; what is no text is written as Java prints it."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        del settings, is_key

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """Null stays null."""
        del topic
        return None if datum.value is None else java_text(datum.value).encode()

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """A text that may be null."""
        del topic
        try:
            return Datum(None if data is None else data.decode(), optional(STRING))
        except UnicodeDecodeError as error:
            raise DataError(f"Failed to deserialize string: {error}") from error


class ByteArrayConverter:
    """Bytes as they are."""

    def __init__(self, settings: Mapping[str, str], *, is_key: bool = False) -> None:
        del settings, is_key

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """Nothing but bytes."""
        del topic
        if datum.value is not None and not isinstance(datum.value, bytes):
            raise DataError(
                f"ByteArrayConverter is not compatible with objects of type "
                f"{type(datum.value).__name__}"
            )
        return datum.value

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """Bytes that may be null."""
        del topic
        return Datum(data, optional(BYTES))


class NumberConverter:
    """One number or truth value, big-endian as Kafka's serializers write it."""

    def __init__(self, name: str, code: str, schema: Schema) -> None:
        self._name = name
        self._format = struct.Struct(code)
        self._schema = schema

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """DataError if the value is another kind of thing."""
        del topic
        if datum.value is None:
            return None
        try:
            return self._format.pack(datum.value)
        except struct.error as error:
            raise DataError(f"Failed to serialize to a {self._name}: {error}") from error

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """DataError if there are too many or too few bytes."""
        del topic
        if data is None:
            return NULL
        try:
            return Datum(self._format.unpack(data)[0], optional(self._schema))
        except struct.error as error:
            raise DataError(f"Failed to deserialize {self._name}: {error}") from error


NUMBERS: dict[str, tuple[str, str, Schema]] = {
    "IntegerConverter": ("integer", ">i", INT32),
    "LongConverter": ("long", ">q", INT64),
    "ShortConverter": ("short", ">h", INT16),
    "FloatConverter": ("float", ">f", FLOAT32),
    "DoubleConverter": ("double", ">d", FLOAT64),
    "BooleanConverter": ("boolean", ">?", BOOLEAN),
}


def java_text(value: object) -> str:
    """A value as Java's toString prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inner = ",".join(f"{name}={java_text(each)}" for name, each in value.items())
        return f"Struct{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(java_text(each) for each in value)}]"
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return "null" if value is None else str(value)
