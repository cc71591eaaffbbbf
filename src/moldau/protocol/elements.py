"""How many elements the lists of a message have: whether it takes long to write or to read."""

from functools import cache
from typing import Any

from moldau.protocol.schema import fields_of

Lists = tuple[tuple[str, "Lists"], ...]


def has_more_elements(message: object, limit: int) -> bool:
    """Whether the lists of a message, those within them included, have more than `limit`."""
    cls: Any = type(message)
    return _rest(message, _lists_of(cls), limit) < 0


def _rest(message: Any, lists: Lists, room: int) -> int:
    """How many elements there is room for after this message; stops below 0."""
    for name, inner in lists:
        elements = getattr(message, name)
        if elements:
            room -= len(elements)
            if room < 0:
                return room
            if inner:
                for element in elements:
                    room = _rest(element, inner, room)
                    if room < 0:
                        return room
    return room


@cache
def _lists_of(cls: type) -> Lists:
    return tuple(
        (field.name, () if field.struct is None else _lists_of(field.struct))
        for field in fields_of(cls)
        if field.is_array
    )
