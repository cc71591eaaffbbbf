"""Walks through Avro before it is read, so that a few bytes cannot ask for endless work.

A block of an array says how many items it has, and items may take no bytes at all: ten bytes
can stand for 2^62 nulls. A schema that refers to itself nests as deep as the value says. And
names that the schema repeats make JSON of any size out of little.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

ITEMS_MAX = 200_000
DEPTH_MAX = 100
TEXT_BYTES_MAX = 32 << 20

Names = Mapping[str, Any]
_FIXED_BYTES = {"null": 0, "boolean": 1, "float": 4, "double": 8}
_VARINT_BYTES_MAX = 10
_LOGICAL_BYTES_MAX = 4096  # what is converted takes more than linear time: decimals


class AvroTooLarge(ValueError):
    """A value that would take too much to be shown."""


def check_bounds(body: bytes, schema: Any, names: Names) -> None:
    """AvroTooLarge if a value has too many items, or is nested too deep; ValueError if broken.

    Schemas are as fastavro has parsed them, `names` those that are known by their full names.
    """
    _Walk(body, names).value(schema, 0)


class _Walk:
    """One pass over the bytes of a value, which keeps nothing of them."""

    def __init__(self, body: bytes, names: Names) -> None:
        self._body = body
        self._at = 0
        self._names = names
        self._items = 0
        self._text_bytes = 0
        self._by_kind: Mapping[str, Callable[[Any, int], None]] = {
            "record": self._record,
            "error": self._record,
            "array": self._array,
            "map": self._map,
            "enum": self._enum,
            "fixed": self._fixed,
        }

    def value(self, schema: Any, depth: int) -> None:
        """Pass over one value."""
        self._items += 1
        if self._items > ITEMS_MAX:
            raise AvroTooLarge(f"it has more than {ITEMS_MAX:,} parts: download it to read it")
        if depth > DEPTH_MAX:
            raise AvroTooLarge(f"it is nested deeper than {DEPTH_MAX}: download it to read it")
        if isinstance(schema, list):
            self._union(schema, depth)
            return
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            self.value(kind, depth + 1)
        elif kind in self._by_kind:
            self._by_kind[kind](schema, depth)
        elif kind in _FIXED_BYTES:
            self._pass(_FIXED_BYTES[kind])
        elif kind in ("int", "long"):
            self._number()
        elif kind in ("bytes", "string"):
            size = self._size()
            if isinstance(schema, dict) and schema.get("logicalType") and size > _LOGICAL_BYTES_MAX:
                raise AvroTooLarge(f"a {schema['logicalType']} of {size:,} bytes: that is too many")
            self._pass(size)
        elif kind in self._names:
            self.value(self._names[kind], depth)
        else:
            raise ValueError(f"its schema has no type {kind}")

    def _record(self, schema: Any, depth: int) -> None:
        for field in schema["fields"]:
            self._say(field["name"])
            self.value(field["type"], depth + 1)

    def _union(self, schema: Any, depth: int) -> None:
        branch = self._number()
        if not 0 <= branch < len(schema):
            raise ValueError(f"a union of {len(schema)} has no branch {branch}")
        chosen = schema[branch]
        self._say(chosen.get("name", "") if isinstance(chosen, dict) else str(chosen))
        self.value(chosen, depth + 1)

    def _array(self, schema: Any, depth: int) -> None:
        for _ in self._blocks():
            self.value(schema["items"], depth + 1)

    def _map(self, schema: Any, depth: int) -> None:
        for _ in self._blocks():
            self._pass(self._size())
            self.value(schema["values"], depth + 1)

    def _blocks(self) -> Iterator[int]:
        """Once for each item of all blocks."""
        while count := self._number():
            if count < 0:
                self._number()  # the size in bytes, for those who pass over it
                count = -count
            left = ITEMS_MAX - self._items
            if count > left:
                raise AvroTooLarge(f"a list says that it has {count:,} items: that is too many")
            yield from range(count)

    def _enum(self, schema: Any, _: int) -> None:
        symbol = self._number()
        if not 0 <= symbol < len(schema["symbols"]):
            raise ValueError(f"an enum has no symbol {symbol}")
        self._say(schema["symbols"][symbol])

    def _fixed(self, schema: Any, _: int) -> None:
        self._pass(int(schema["size"]))

    def _say(self, name: str) -> None:
        self._text_bytes += len(name)
        if self._text_bytes > TEXT_BYTES_MAX:
            raise AvroTooLarge("names of its schema alone would fill more than 32 MiB")

    def _size(self) -> int:
        size = self._number()
        if size < 0:
            raise ValueError(f"a text of {size} bytes")
        return size

    def _pass(self, size: int) -> None:
        self._at += size
        if self._at > len(self._body):
            raise ValueError("it is cut off")

    def _number(self) -> int:
        found = shift = 0
        for _ in range(_VARINT_BYTES_MAX):
            self._pass(1)
            byte = self._body[self._at - 1]
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (found >> 1) ^ -(found & 1)
        raise ValueError("a number of more than ten bytes")
