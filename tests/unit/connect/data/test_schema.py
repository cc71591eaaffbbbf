"""Schemas are values that can be changed and compared."""

from moldau.connect.data.schema import INT32, STRING, decimal, map_of, optional, struct


def test_fields_are_found_by_name() -> None:
    schema = struct([("a", INT32), ("b", optional(STRING))], name="row")
    found = schema.field("b")
    assert found is not None
    assert found.schema.optional
    assert schema.field("c") is None


def test_equal_schemas_are_equal_and_hash_alike() -> None:
    one, other = struct([("a", INT32)]), struct([("a", INT32)])
    assert one == other
    assert hash(one) == hash(other)
    assert one != one.but(optional=True)
    assert map_of(STRING, INT32) != map_of(STRING, STRING)


def test_a_decimal_says_its_scale_and_maybe_its_precision() -> None:
    assert decimal(2).scale == 2
    assert decimal(2, 10).parameters == {"scale": "2", "connect.decimal.precision": "10"}
