"""What a converter does: Connect's data to bytes of a topic, and back."""

from typing import Protocol

from moldau.connect.data.record import Datum


class Converter(Protocol):
    """Converts keys or values; a header's is asked with the header's name."""

    def to_bytes(self, topic: str, datum: Datum) -> bytes | None:
        """The bytes of a value; DataError if there are none."""

    def from_bytes(self, topic: str, data: bytes | None) -> Datum:
        """The value of bytes; DataError if they are none."""
