"""CRC-32C, the checksum of record batches, by the fastest means at hand.

That is our C extension, else the `crc32c` wheel, else a loop over a table. None of them
copies the buffer it is given, whatever its type.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from moldau.runtime import native

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Checksum = Callable[..., int]
"""Called with a buffer and, to continue over a further part, the checksum so far."""


def crc32c_python(data: ReadableBuffer, value: int = 0, /) -> int:
    """The CRC-32C of `data`, continuing from `value`, a byte at a time."""
    crc = ~value & 0xFFFFFFFF
    table = _TABLE
    for byte in memoryview(data).cast("B"):
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
    return ~crc & 0xFFFFFFFF


def choose() -> Checksum:
    """The fastest checksum function that is installed; `MOLDAU_PURE=1` leaves out our own."""
    candidates = (
        ("crc32c",) if native.pure_python_wanted() else ("moldau.records._crc32c", "crc32c")
    )
    for name in candidates:
        try:
            return cast(Checksum, importlib.import_module(name).crc32c)
        except ImportError:
            continue
    native.warn_once(
        "checksums run in Python, about a thousand times slower; "
        "`pip install crc32c`, or install a C compiler and reinstall moldau"
    )
    return crc32c_python


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = tuple(_table_entry(byte) for byte in range(256))

crc32c: Checksum = choose()
