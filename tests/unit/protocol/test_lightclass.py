"""Classes that behave like dataclasses with slots and keywords only."""

import pytest

from moldau.protocol.lightclass import REQUIRED, Specifier, with_slots


def declared() -> type:
    class Point:
        x: int
        y: int = 5
        tags: list[str] = Specifier(REQUIRED, list)  # type: ignore[assignment]

    return with_slots(Point, {"UNIT": "mm"})


def test_values_are_given_by_keyword_and_the_rest_by_default() -> None:
    point = declared()(x=1)
    assert (point.x, point.y, point.tags) == (1, 5, [])


def test_a_missing_value_is_named() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing .* 'x'"):
        declared()()


def test_an_unknown_value_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        declared()(x=1, z=2)


def test_positions_are_refused() -> None:
    with pytest.raises(TypeError):
        declared()(1)


def test_each_instance_gets_a_list_of_its_own() -> None:
    cls = declared()
    assert cls(x=1).tags is not cls(x=1).tags


def test_none_is_a_value_and_not_a_missing_one() -> None:
    assert declared()(x=1, tags=None).tags is None


def test_equality_is_by_class_and_values() -> None:
    cls = declared()
    assert cls(x=1) == cls(x=1)
    assert cls(x=1) != cls(x=2)
    assert cls(x=1) != declared()(x=1)


def test_instances_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(declared()(x=1))


def test_there_is_no_room_for_misspelled_attributes() -> None:
    point = declared()(x=1)
    with pytest.raises(AttributeError):
        point.z = 3


def test_the_representation_could_be_typed_in() -> None:
    assert repr(declared()(x=1)) == "Point(x=1, y=5, tags=[])"


def test_facts_are_attributes_of_the_class() -> None:
    assert vars(declared())["UNIT"] == "mm"


def test_a_class_without_fields_can_be_made() -> None:
    class Empty:
        pass

    assert repr(with_slots(Empty, {})()) == "Empty()"
