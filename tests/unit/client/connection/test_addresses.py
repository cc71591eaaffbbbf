"""Bootstrap servers as people write them."""

import pytest

from moldau.client.connection.addresses import Address, parse_addresses
from moldau.errors import InvalidConfig


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:1", [("a", 1)]),
        ("a:1, b.example:65535", [("a", 1), ("b.example", 65535)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("PLAINTEXT://a:9092", [("a", 9092)]),
        (["a:1", "b:2"], [("a", 1), ("b", 2)]),
    ],
)
def test_addresses_are_read(text: str | list[str], expected: list[tuple[str, int]]) -> None:
    assert list(parse_addresses(text)) == expected


@pytest.mark.parametrize("text", ["", " , ", "a", "a:", "a:0", "a:65536", "::1:9092", "a:x", ":1"])
def test_what_is_no_address_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"bootstrap\.servers"):
        parse_addresses(text)


def test_an_address_prints_as_it_is_written() -> None:
    assert str(Address("a", 1)) == "a:1"
    assert str(Address("::1", 1)) == "[::1]:1"
