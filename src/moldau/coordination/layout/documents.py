"""JSON in nodes, written as Kafka writes it and read with every field checked."""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

_T = TypeVar("_T")
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class NodeDataError(Exception):
    """The data of a node is not what belongs there; the reader keeps what it had."""


def encode(fields: Mapping[str, object]) -> bytes:
    """JSON without blanks, in the order of the fields."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


class Document:
    """A JSON object whose fields are asked for by name and type."""

    def __init__(self, fields: dict[str, Json]) -> None:
        self._fields = fields

    @classmethod
    def decode(cls, data: bytes) -> "Document":
        """The object in `data`, or NodeDataError."""
        try:
            return cls(_an_object(json.loads(data)))
        except (ValueError, RecursionError) as error:
            raise NodeDataError(f"no JSON: {error}") from error

    def integer(self, name: str) -> int:
        return self._required(name, _an_integer)

    def text(self, name: str) -> str:
        return self._required(name, _a_text)

    def integers(self, name: str) -> tuple[int, ...]:
        return self._required(name, _integers)

    def texts(self, name: str) -> tuple[str, ...]:
        return self._required(name, _texts)

    def mapping(self, name: str) -> "Document":
        """A field that is an object itself."""
        return Document(self._required(name, _an_object))

    def documents(self, name: str) -> list["Document"]:
        """A field that is a list of objects."""
        return [Document(_an_object(each)) for each in self._required(name, _a_list)]

    def optional_text(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def integer_or(self, name: str, default: int) -> int:
        return default if self._fields.get(name) is None else self.integer(name)

    def mapping_or_empty(self, name: str) -> "Document":
        return Document({}) if self._fields.get(name) is None else self.mapping(name)

    def names(self) -> tuple[str, ...]:
        """What the fields are called."""
        return tuple(self._fields)

    def all_texts(self) -> dict[str, str]:
        """Every field, all of which are texts."""
        return {name: self.text(name) for name in self._fields}

    def all_integers(self) -> dict[str, tuple[int, ...]]:
        """Every field, all of which are lists of integers."""
        return {name: self.integers(name) for name in self._fields}

    def _required(self, name: str, convert: Callable[[Json], _T]) -> _T:
        if name not in self._fields:
            raise NodeDataError(f"no field {name!r}")
        try:
            return convert(self._fields[name])
        except NodeDataError as error:
            raise NodeDataError(f"field {name!r}: {error}") from error


def parse_integer(text: str) -> int:
    """A number that Kafka writes as a text."""
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 20:
        raise NodeDataError(f"{text[:30]!r} is not a number")
    return int(text)


def _an_integer(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise NodeDataError(f"{value!r} is not an integer")
    return value


def _a_text(value: Json) -> str:
    if not isinstance(value, str):
        raise NodeDataError(f"{value!r} is not a text")
    return value


def _a_list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise NodeDataError(f"{value!r} is not a list")
    return value


def _an_object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise NodeDataError(f"{value!r} is not an object")
    return value


def _integers(value: Json) -> tuple[int, ...]:
    return tuple(map(_an_integer, _a_list(value)))


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(map(_a_text, _a_list(value)))
