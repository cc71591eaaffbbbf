"""Keys and values that are numbers, by kcat's -s; kcat itself is asked in conformance."""

import pytest

from moldau.cli.kcat.packing import read_packing
from moldau.cli.terminal.failure import CommandFailed

DATA = b"\0\0\0\1\0\2ab"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (">ihs", b"12ab"),
        ("ih", b"12"),
        ("<ih s", b"16777216512ab"),
        ("q$", b"4295123298"),
        ("bBhHcc$", b"0012ab"),
    ],
)
def test_numbers_are_read(form: str, expected: bytes) -> None:
    assert read_packing([form])["key"](DATA) == expected


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("i$", "expected value end-of-input, but 4 bytes remaining"),
        ("qi", "i needs 4 bytes, but 0"),
    ],
)
def test_what_does_not_fit_is_told(form: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_packing([f"value={form}"])["value"](DATA)


def test_key_and_value_are_told_apart() -> None:
    assert set(read_packing(["key=i"])) == {"key"}
    assert set(read_packing(["key=i", "value=s"])) == {"key", "value"}


@pytest.mark.parametrize(("form", "reason"), [("avro", "no schema registry"), ("zz", "token 'z'")])
def test_what_is_not_known_is_named(form: str, reason: str) -> None:
    with pytest.raises(CommandFailed, match=reason):
        read_packing([form])
