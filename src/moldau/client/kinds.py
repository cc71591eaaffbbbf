"""What keys and values are: whatever serializers take and deserializers return, else bytes.

Without a serializer a producer takes bytes and text, and without a deserializer a consumer returns
bytes. Type checkers know it by defaults of type variables (PEP 696), which Python has since 3.13.
"""

from typing import TYPE_CHECKING

Sendable = bytes | str | bytearray | memoryview
"""What needs no serializer."""

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # type checkers bring it along

    Key = TypeVar("Key", default=bytes)
    Value = TypeVar("Value", default=bytes)
    SentKey = TypeVar("SentKey", default=Sendable)
    SentValue = TypeVar("SentValue", default=Sendable)
else:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")
    SentKey = TypeVar("SentKey")
    SentValue = TypeVar("SentValue")
