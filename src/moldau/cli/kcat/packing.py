"""Keys and values that are numbers, by kcat's -s: '>ihs'."""

import struct
from collections.abc import Callable, Iterable

from moldau.cli.terminal.failure import CommandFailed

Unpack = Callable[[bytes], bytes]

_NUMBERS = "bBhHiIqQ"
_OTHERS = "cs$"


def read_packing(texts: Iterable[str]) -> dict[str, Unpack]:
    """How `key` and `value` are read."""
    found: dict[str, Unpack] = {}
    for text in texts:
        part, equals, form = text.partition("=")
        names = (part,) if equals and part in ("key", "value") else ("key", "value")
        for name in names:
            found[name] = _unpacker(form if len(names) == 1 else text, name)
    return found


def _unpacker(form: str, name: str) -> Unpack:
    if form == "avro":
        raise CommandFailed("-s avro: there is no schema registry here, only pack formats: >ihs")
    for letter in form:
        if letter not in f"<> {_NUMBERS}{_OTHERS}":
            raise CommandFailed(
                f"% ERROR: Invalid token '{letter}' in {name} pack-format, see -s usage."
            )

    def unpack(data: bytes) -> bytes:
        """Raises ValueError if there is too little, or what is not expected."""
        order, at, parts = ">", 0, []
        for letter in form:
            if letter in "<>":
                order = letter
            elif letter == "s":
                parts.append(data[at:])
                at = len(data)
            elif letter == "$" and at < len(data):
                left = len(data) - at
                raise ValueError(f"expected {name} end-of-input, but {left} bytes remaining")
            elif letter in _NUMBERS or letter == "c":
                part, at = _part(data, at, order + letter), at + struct.calcsize(order + letter)
                parts.append(part)
        return b"".join(parts)

    return unpack


def _part(data: bytes, at: int, form: str) -> bytes:
    try:
        (value,) = struct.unpack_from(form, data, at)
    except struct.error:
        needed = struct.calcsize(form)
        raise ValueError(
            f"{form[1]} needs {needed} bytes, but {len(data) - at} are remaining"
        ) from None
    return value if isinstance(value, bytes) else b"%d" % value
