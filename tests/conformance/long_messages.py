"""Requests whose lists are as long as a frame allows, drawn from their declarations.

Every array of a request, however deep, is the long one in turn; everything else has as few
elements as there can be. Elements are alike, which asks for one thing again and again, or
different, which asks for as many things as there are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from moldau.protocol.codec import encode
from moldau.protocol.schema import Field, fields_of

Path = tuple[str, ...]
PARTITION_NUMBERS = ("partition", "partition_index", "index", "partition_indexes", "partitions")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a request may be."""

    size_bytes: int
    elements: int


class Naming(Enum):
    """What the elements of a list are called."""

    ALIKE = "one thing again and again"
    DIFFERENT = "things that are not there"
    NUMBERED = "partitions of one topic"


Names = tuple[Naming, Mapping[str, str]]
"""How things are named, and the names of those that are there, by the fields that say them."""


def paths_of(cls: type, version: int) -> Iterator[Path]:
    """The arrays of a message, from the outside in."""
    for field in fields_of(cls):
        if not field.is_in(version):
            continue
        if field.is_array:
            yield (field.name,)
        if field.struct is not None:
            for rest in paths_of(field.struct, version):
                yield (field.name, *rest)


def has_numbers(cls: type, path: Path) -> bool:
    """Whether the elements of the array at `path` are partitions."""
    *outer, last = path
    for name in outer:
        (cls,) = (one.struct for one in fields_of(cls) if one.name == name and one.struct)
    (field,) = (one for one in fields_of(cls) if one.name == last)
    if field.struct is None:
        return last in PARTITION_NUMBERS
    return any(one.name in PARTITION_NUMBERS and not one.struct for one in fields_of(field.struct))


def longest(cls: type, version: int, path: Path, names: Names, *, within: Bounds) -> Any:
    """The message with the array at `path` as long as its bounds allow."""
    few = _Filled(names, path, 1).message(cls, version)
    more = _Filled(names, path, 65).message(cls, version)
    empty_bytes = len(encode(few, version))
    element_bytes = (len(encode(more, version)) - empty_bytes) / 64
    by_size = int((within.size_bytes - empty_bytes) / max(element_bytes, 1))
    inner = len(list(paths_of_elements(cls, version, path)))
    by_elements = (within.elements - 100) // (1 + inner)
    return _Filled(names, path, min(by_size, by_elements)).message(cls, version)


def paths_of_elements(cls: type, version: int, path: Path) -> Iterator[Path]:
    """The arrays within an element of the array at `path`."""
    return (
        other
        for other in paths_of(cls, version)
        if len(other) > len(path) and other[: len(path)] == path
    )


class _Filled:
    def __init__(self, names: Names, path: Path, count: int) -> None:
        self._naming, self._known = names
        self._path = path
        self._count = count

    def message(self, cls: type, version: int, at: Path = (), number: int = 0) -> object:
        values = {}
        for field in fields_of(cls):
            is_here = field.is_in(version) and (field.tag is None or self._leads_to(at, field))
            values[field.name] = (
                self._value(field, version, (*at, field.name), number)
                if is_here
                else _default(field)
            )
        return cls(**values)

    def _leads_to(self, at: Path, field: Field) -> bool:
        path = (*at, field.name)
        return self._path[: len(path)] == path

    def _value(self, field: Field, version: int, at: Path, number: int) -> object:
        if field.is_array:
            count = self._count if at == self._path else 1
            return [self._element(field, version, at, index) for index in range(count)]
        return self._element(field, version, at, number)

    def _element(self, field: Field, version: int, at: Path, number: int) -> object:
        if field.struct is not None:
            if field.is_single_struct and field.nullable_from is not None:
                return None
            return self.message(field.struct, version, at, number)
        assert field.primitive is not None
        match field.primitive.name:
            case "string":
                if self._naming is Naming.DIFFERENT:
                    return f"{number:06d}"
                return self._known.get(field.name, "a")
            case "bytes" | "records":
                return b""
            case "uuid":
                return bytes(12) + number.to_bytes(4, "big")
            case "bool":
                return False
            case _:
                return self._number(field, number)

    def _number(self, field: Field, number: int) -> object:
        if field.name in PARTITION_NUMBERS:
            return 0 if self._naming is Naming.ALIKE else number
        return _default(field) if not field.is_array else number


def _default(field: Field) -> object:
    return list(field.default) if isinstance(field.default, list) else field.default
