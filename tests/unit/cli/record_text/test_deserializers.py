"""Bytes to the text that Java's deserializers would print."""

import struct
import uuid

import pytest

from moldau.cli.record_text.deserializers import find_deserializer
from moldau.cli.terminal.failure import CommandFailed

SOME = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("IntegerDeserializer", struct.pack(">i", -5), b"-5"),
        ("LongDeserializer", struct.pack(">q", 2**40), b"1099511627776"),
        ("ShortDeserializer", struct.pack(">h", 3), b"3"),
        ("DoubleDeserializer", struct.pack(">d", 1.5), b"1.5"),
        ("FloatDeserializer", struct.pack(">f", 0.5), b"0.5"),
        ("StringDeserializer", b"caf\xc3\xa9", b"caf\xc3\xa9"),
        ("StringDeserializer", b"\xff", b"\xef\xbf\xbd"),
        ("UUIDDeserializer", str(SOME).encode(), str(SOME).encode()),
    ],
)
def test_values_are_shown_as_java_shows_them(name: str, data: bytes, text: bytes) -> None:
    read = find_deserializer(f"org.apache.kafka.common.serialization.{name}")
    assert read is not None
    assert read(data) == text


def test_bytes_stay_as_they_are() -> None:
    assert find_deserializer("ByteArrayDeserializer") is None


@pytest.mark.parametrize("name", ["IntegerDeserializer", "UUIDDeserializer", "VoidDeserializer"])
def test_what_cannot_be_read_is_refused(name: str) -> None:
    read = find_deserializer(name)
    assert read is not None
    with pytest.raises(CommandFailed):
        read(b"12345")


def test_an_unknown_class_is_named() -> None:
    with pytest.raises(CommandFailed, match=r"no deserializer com\.example\.Avro; there is"):
        find_deserializer("com.example.Avro")
