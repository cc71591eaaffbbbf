"""Annotations name the wire's types."""

from struct import calcsize

import pytest

from moldau.protocol import primitives
from moldau.protocol.primitives import NO_UUID, Primitive, primitive_of


@pytest.mark.parametrize(
    ("annotation", "name", "size"),
    [
        (primitives.Int8, "int8", 1),
        (primitives.Int16, "int16", 2),
        (primitives.Uint16, "uint16", 2),
        (primitives.Int32, "int32", 4),
        (primitives.Int64, "int64", 8),
        (primitives.Float64, "float64", 8),
        (primitives.Uuid, "uuid", 16),
        (bool, "bool", 1),
    ],
)
def test_fixed_sizes(annotation: object, name: str, size: int) -> None:
    primitive = primitive_of(annotation)
    assert primitive is not None
    assert (primitive.name, primitive.size) == (name, size)
    assert calcsize(f">{primitive.format}") == size


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (str, "string"),
        (bytes, "bytes"),
        (primitives.Records, "records"),
        (primitives.RecordsSource, "records"),
    ],
)
def test_length_prefixed_types_have_no_format(annotation: object, name: str) -> None:
    primitive = primitive_of(annotation)
    assert primitive is not None
    assert (primitive.name, primitive.format) == (name, "")


def test_anything_else_is_a_struct() -> None:
    assert primitive_of(Primitive) is None


def test_the_zero_uuid_has_sixteen_bytes() -> None:
    assert bytes(16) == NO_UUID
