"""Keys and values that need no schema, in the bytes of Java's serializers."""

import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PlainSerde(Generic[Value]):
    """A pair of functions: `value_serializer=LONG.serialize`."""

    serialize: Callable[[Value], bytes]
    deserialize: Callable[[bytes], Value]


def _decode_text(data: bytes) -> str:
    return str(data, "utf-8")


def _as_they_are(data: bytes) -> bytes:
    return bytes(data)


def _number(form: str) -> PlainSerde[int]:
    layout = struct.Struct(form)

    def serialize(value: int) -> bytes:
        try:
            return layout.pack(value)
        except struct.error as error:
            raise ValueError(f"{value!r} does not fit {layout.size} bytes: {error}") from error

    def deserialize(data: bytes) -> int:
        if len(data) != layout.size:
            raise ValueError(f"the value has {len(data)} bytes instead of {layout.size}")
        number: int = layout.unpack(data)[0]
        return number

    return PlainSerde(serialize, deserialize)


BYTES: PlainSerde[bytes] = PlainSerde(_as_they_are, _as_they_are)
STRING: PlainSerde[str] = PlainSerde(str.encode, _decode_text)
SHORT: PlainSerde[int] = _number(">h")
INTEGER: PlainSerde[int] = _number(">i")
LONG: PlainSerde[int] = _number(">q")
FLOAT: PlainSerde[float] = _number(">f")  # type: ignore[assignment]
DOUBLE: PlainSerde[float] = _number(">d")  # type: ignore[assignment]
BOOLEAN: PlainSerde[bool] = _number(">?")  # type: ignore[assignment]
UUID: PlainSerde[uuid.UUID] = PlainSerde(
    lambda value: str(value).encode(), lambda data: uuid.UUID(_decode_text(data))
)
