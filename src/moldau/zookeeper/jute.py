"""Jute, the encoding of ZooKeeper's messages: big-endian numbers, and lengths before bytes."""

import struct
from collections.abc import Sequence

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_BYTE = struct.Struct(">B")
_NONE = -1


class Malformed(Exception):
    """Bytes that are no message."""


class JuteReader:
    """Reads one message; Malformed where it ends too early or a length is absurd."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._size = len(self._data)
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return self._size - self._at

    def integer(self) -> int:
        """Four bytes."""
        at = self._pass(_INT.size)
        number: int = _INT.unpack_from(self._data, at)[0]
        return number

    def long(self) -> int:
        """Eight bytes."""
        at = self._pass(_LONG.size)
        number: int = _LONG.unpack_from(self._data, at)[0]
        return number

    def flag(self) -> bool:
        """One byte."""
        return bool(self._data[self._pass(1)])

    def buffer(self) -> bytes | None:
        """Bytes after their length; None is not the same as none."""
        length = self.integer()
        if length == _NONE:
            return None
        if length < 0:
            raise Malformed(f"a length of {length}")
        at = self._pass(length)
        return bytes(self._data[at : self._at])

    def text(self) -> str:
        """Text in UTF-8; what is none is read as an empty one."""
        try:
            return (self.buffer() or b"").decode()
        except UnicodeDecodeError as error:
            raise Malformed(f"no UTF-8: {error.reason}") from error

    def texts(self) -> list[str]:
        """A list of texts."""
        return [self.text() for _ in range(self.count())]

    def count(self) -> int:
        """The length of a list, each element of which has at least a byte."""
        found = self.integer()
        if found > self.left:
            raise Malformed(f"a list of {found} in {self.left} bytes")
        return max(found, 0)

    def _pass(self, size: int) -> int:
        """Where so many bytes begin, which are read now."""
        at = self._at
        if at + size > self._size:
            raise Malformed(f"{size} bytes are expected where {self.left} are left")
        self._at = at + size
        return at


def integer(value: int) -> bytes:
    """Four bytes."""
    return _INT.pack(value)


def long(value: int) -> bytes:
    """Eight bytes."""
    return _LONG.pack(value)


def flag(value: bool) -> bytes:
    """One byte."""
    return _BYTE.pack(value)


def buffer(value: bytes | None) -> bytes:
    """Bytes after their length."""
    return _INT.pack(_NONE) if value is None else _INT.pack(len(value)) + value


def text(value: str) -> bytes:
    """Text in UTF-8 after its length."""
    return buffer(value.encode())


def texts(values: Sequence[str]) -> bytes:
    """A list of texts."""
    return _INT.pack(len(values)) + b"".join(map(text, values))
