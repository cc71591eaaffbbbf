"""The kinds of byte buffer that the record formats are read from and written to."""

from typing import TypeAlias

ReadableBuffer: TypeAlias = bytes | bytearray | memoryview
WritableBuffer: TypeAlias = bytearray | memoryview
