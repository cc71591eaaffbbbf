"""Bytes to the text that Java's deserializers of these names would print."""

import struct
import uuid
from collections.abc import Callable

from moldau.cli.terminal.failure import CommandFailed

Deserializer = Callable[[bytes], bytes]

_PACKAGE = "org.apache.kafka.common.serialization."


def find_deserializer(class_name: str) -> Deserializer | None:
    """What reads bytes as this class does; None if it leaves them as they are."""
    short = class_name.removeprefix(_PACKAGE)
    if short not in _DESERIALIZERS:
        known = ", ".join(f"{_PACKAGE}{name}" for name in _DESERIALIZERS)
        raise CommandFailed(f"there is no deserializer {class_name}; there is: {known}")
    return _DESERIALIZERS[short]


def _number(form: str, name: str) -> Deserializer:
    size = struct.calcsize(form)

    def read(data: bytes) -> bytes:
        if len(data) != size:
            raise CommandFailed(f"Size of data received by {name} is not {size}")
        (value,) = struct.unpack(form, data)
        return str(value).encode()

    return read


def _uuid(data: bytes) -> bytes:
    try:
        return str(uuid.UUID(data.decode())).encode()
    except ValueError as error:
        raise CommandFailed("Error parsing data into UUID") from error


def _text(data: bytes) -> bytes:
    """What is not UTF-8 is replaced, as Java does."""
    return data.decode(errors="replace").encode()


def _nothing(data: bytes) -> bytes:
    raise CommandFailed(f"Data should be null for a VoidDeserializer, not {len(data)} bytes")


_DESERIALIZERS: dict[str, Deserializer | None] = {
    "StringDeserializer": _text,
    "ByteArrayDeserializer": None,
    "BytesDeserializer": None,
    "ByteBufferDeserializer": None,
    "IntegerDeserializer": _number(">i", "IntegerDeserializer"),
    "LongDeserializer": _number(">q", "LongDeserializer"),
    "ShortDeserializer": _number(">h", "ShortDeserializer"),
    "FloatDeserializer": _number(">f", "FloatDeserializer"),
    "DoubleDeserializer": _number(">d", "DoubleDeserializer"),
    "UUIDDeserializer": _uuid,
    "VoidDeserializer": _nothing,
}
