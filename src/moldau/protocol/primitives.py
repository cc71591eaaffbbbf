"""The wire's elementary types, as annotations for message declarations.

`Int32` and its siblings are plain Python types to a type checker; to the codec
compiler they say how many bytes a value takes. `str`, `bytes` and `bool` need
no alias.
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from moldau.runtime.file_range import FileRange


@dataclass(frozen=True, slots=True)
class Primitive:
    """How one elementary type looks on the wire."""

    name: str
    """Kafka's name of the type."""
    format: str
    """The `struct` code of a fixed-size type; empty for a length-prefixed one."""
    size: int
    """Bytes of a fixed-size type; of the others, the least that they can take."""
    zero: object
    """The value of a field that declares no other default."""


Int8: TypeAlias = Annotated[int, Primitive("int8", "b", 1, 0)]
Int16: TypeAlias = Annotated[int, Primitive("int16", "h", 2, 0)]
Uint16: TypeAlias = Annotated[int, Primitive("uint16", "H", 2, 0)]
Int32: TypeAlias = Annotated[int, Primitive("int32", "i", 4, 0)]
Int64: TypeAlias = Annotated[int, Primitive("int64", "q", 8, 0)]
Float64: TypeAlias = Annotated[float, Primitive("float64", "d", 8, 0.0)]

NO_UUID = bytes(16)
"""Kafka's zero uuid, which stands for "none"."""

Uuid: TypeAlias = Annotated[bytes, Primitive("uuid", "16s", 16, NO_UUID)]
"""The 16 bytes as they travel: they hash and compare faster than any uuid class."""

Buffer: TypeAlias = bytes | bytearray | memoryview

Records: TypeAlias = Annotated[Buffer, Primitive("records", "", 1, None)]
"""Record batches. Decoding yields a view on the received bytes: no copy is made."""

Part: TypeAlias = Buffer | FileRange
"""A piece of an encoded message."""

RecordsSource: TypeAlias = Annotated[Part, Primitive("records", "", 1, None)]
"""Record batches that may also be written from a file, with `sendfile`."""

BOOL = Primitive("bool", "?", 1, False)
STRING = Primitive("string", "", 1, "")
BYTES = Primitive("bytes", "", 1, b"")

UVARINT_SIZE_MAX = 5


def primitive_of(annotation: object) -> Primitive | None:
    """The elementary type that an annotation names, or None if it names a struct."""
    if annotation is str:
        return STRING
    if annotation is bool:
        return BOOL
    if annotation is bytes:
        return BYTES
    (primitive,) = getattr(annotation, "__metadata__", (None,))
    return primitive
