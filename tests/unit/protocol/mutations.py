"""Valid messages, and what can be done to their bytes."""

from collections.abc import Iterator
from random import Random
from typing import Any

from moldau.protocol.codec import encode
from moldau.protocol.schema import Field, fields_of

# Written over every place of a message: as a length, as a count, as a varint.
HUGE = (
    b"\xff",
    b"\x00",
    b"\x7f\xff",
    b"\x80\x00",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\x01",
)

_WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def example(cls: type, version: int, draw: Random) -> Any:
    """A message that this version can express, with something in every field."""
    return cls(
        **{
            field.name: _value(field, version, draw) if field.is_in(version) else _default(field)
            for field in fields_of(cls)
        }
    )


def smallest(cls: type, version: int, element_count: int = 0) -> Any:
    """A message of which every value is the shortest, with so many elements in outer arrays."""
    values: dict[str, Any] = {}
    for field in fields_of(cls):
        if not field.is_in(version) or field.tag is not None:
            values[field.name] = _default(field)
        elif field.struct is None:
            assert field.primitive is not None
            zero = b"" if field.primitive.name == "records" else field.primitive.zero
            values[field.name] = [] if field.is_array else zero
        elif field.is_array:
            values[field.name] = [smallest(field.struct, version) for _ in range(element_count)]
        else:
            is_nullable = field.is_nullable_in(version)
            values[field.name] = None if is_nullable else smallest(field.struct, version)
    return cls(**values)


def _default(field: Field) -> Any:
    return list(field.default) if isinstance(field.default, list) else field.default


def encoded_example(cls: type, version: int, draw: Random) -> bytes:
    return encode(example(cls, version, draw), version)


def _value(field: Field, version: int, draw: Random) -> Any:
    if field.is_nullable_in(version) and draw.random() < 0.2:
        return None
    if field.is_array:
        return [_single(field, version, draw) for _ in range(draw.randint(1, 2))]
    return _single(field, version, draw)


def _single(field: Field, version: int, draw: Random) -> Any:
    if field.struct is not None:
        return example(field.struct, version, draw)
    assert field.primitive is not None
    name = field.primitive.name
    if name in _WIDTHS:
        half = 2 ** (_WIDTHS[name] - 1)
        return draw.randrange(-half, half)
    if name == "uint16":
        return draw.randrange(2**16)
    if name == "bool":
        return draw.random() < 0.5
    if name == "float64":
        return draw.random()
    if name == "string":
        return draw.choice(["", "topic", "zażółć"])
    return draw.randbytes(16 if name == "uuid" else draw.randrange(8))


def truncations(valid: bytes) -> Iterator[bytes]:
    """Every proper prefix."""
    return (valid[:size] for size in range(len(valid)))


def overwritten(valid: bytes, draw: Random, count: int) -> Iterator[bytes]:
    """Huge or impossible lengths over `count` random places."""
    for _ in range(count):
        place, value = draw.randrange(len(valid) + 1), draw.choice(HUGE)
        yield valid[:place] + value + valid[place + draw.choice((0, len(value))) :]


def flipped(valid: bytes, draw: Random, count: int) -> Iterator[bytes]:
    """One to three flipped bits."""
    for _ in range(count if valid else 0):
        mutated = bytearray(valid)
        for _ in range(draw.randint(1, 3)):
            mutated[draw.randrange(len(valid))] ^= 1 << draw.randrange(8)
        yield bytes(mutated)


def spliced(valid: bytes, draw: Random, count: int) -> Iterator[bytes]:
    """Parts repeated, cut out, or replaced by noise."""
    for _ in range(count):
        start = draw.randrange(len(valid) + 1)
        end = min(len(valid), start + draw.randrange(12))
        middle = draw.choice((b"", valid[start:end] * 3, draw.randbytes(draw.randrange(9))))
        yield valid[:start] + middle + valid[end:]
