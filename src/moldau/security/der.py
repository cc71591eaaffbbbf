"""DER, as far as certificates and key stores need it: values within values.

A value is a tag, a length and contents (X.690). Only lengths are followed; what the contents
mean is for the caller to know. Anything that does not add up is a ValueError.
"""

from collections.abc import Iterator
from typing import NamedTuple

BOOLEAN = 0x01
INTEGER = 0x02
OCTET_STRING = 0x04
OBJECT_ID = 0x06
SEQUENCE = 0x30
SET = 0x31

_LONG_FORM = 0x80
_LENGTH_BYTES_MAX = 4
_MULTI_BYTE_TAG = 0x1F


class DerValue(NamedTuple):
    """One value; `whole` has its tag and length as well."""

    tag: int
    contents: bytes
    whole: bytes

    def values(self) -> list["DerValue"]:
        """The values within."""
        return list(values_in(self.contents))


def read_value(data: bytes) -> DerValue:
    """The value that `data` is, with nothing behind it."""
    found = list(values_in(data))
    if len(found) != 1:
        raise ValueError(f"{len(found)} values in the place of one")
    return found[0]


def values_in(data: bytes) -> Iterator[DerValue]:
    """Value after value, to the end."""
    position = 0
    while position < len(data):
        value = _value_at(data, position)
        yield value
        position += len(value.whole)


def object_id(value: DerValue) -> str:
    """An object identifier with dots, as 2.5.4.3."""
    if value.tag != OBJECT_ID or not value.contents or value.contents[-1] & 0x80:
        raise ValueError("not an object identifier")
    numbers = [0]
    for byte in value.contents:
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(0)
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:-1])))


def _value_at(data: bytes, position: int) -> DerValue:
    if position + 2 > len(data):
        raise ValueError("a value is cut off")
    tag, length = data[position], data[position + 1]
    if tag & _MULTI_BYTE_TAG == _MULTI_BYTE_TAG:
        raise ValueError("a tag of several bytes")
    start = position + 2
    if length & _LONG_FORM:
        size = length ^ _LONG_FORM
        if not 1 <= size <= _LENGTH_BYTES_MAX:
            raise ValueError("a length of no or too many bytes")
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    if start + length > len(data):
        raise ValueError("a value is cut off")
    return DerValue(tag, data[start : start + length], data[position : start + length])
