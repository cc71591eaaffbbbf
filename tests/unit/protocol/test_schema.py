"""Declarations, read back."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int32, Records, Uuid
from moldau.protocol.schema import Field, fields_of


@struct
class Part:
    number: Int32


@message(versions=range(0, 6), flexible_from=2)  # noqa: PIE808
class Whole:
    always: str
    numbers: list[Int32] | None = since(0, nullable_from=3)
    middle: Uuid = since(1, removed_in=3, default=NO_UUID, ignorable=True)
    absent: Part | None = since(2, tag=0, default=None)
    marked: Part | None = since(2, tag=1, nullable_from=2, default=None)
    plain: Int32 = -1
    records: Records | None


def field(name: str) -> Field:
    (found,) = (each for each in fields_of(Whole) if each.name == name)
    return found


def test_fields_stand_in_the_order_of_the_declaration() -> None:
    names = [each.name for each in fields_of(Whole)]
    assert names == ["always", "numbers", "middle", "absent", "marked", "plain", "records"]


def test_a_plain_field_is_in_every_version_and_never_null() -> None:
    always = field("always")
    assert always.is_in(0)
    assert always.is_in(5)
    assert not always.is_nullable_in(5)
    assert always.default == ""


def test_a_range_of_versions_ends_before_removed_in() -> None:
    assert [field("middle").is_in(version) for version in range(4)] == [False, True, True, False]
    assert field("middle").is_ignorable


def test_null_begins_with_nullable_from() -> None:
    numbers = field("numbers")
    assert [numbers.is_nullable_in(version) for version in (2, 3)] == [False, True]
    assert numbers.is_array
    assert numbers.default == []
    assert field("records").is_nullable_in(0)


def test_none_in_a_tagged_struct_is_an_absent_tag_unless_null_is_declared() -> None:
    assert not field("absent").is_nullable_in(2)
    assert field("marked").is_nullable_in(2)


def test_a_field_has_either_a_primitive_or_a_struct() -> None:
    assert field("absent").struct is Part
    assert field("absent").is_single_struct
    assert field("plain").struct is None
    assert field("plain").default == -1
