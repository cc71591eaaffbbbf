"""Addresses as Java writes them."""

import pytest

from moldau.security.hosts import java_address


@pytest.mark.parametrize(
    ("written", "by_java"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1"),
        ("2001:0DB8::00a1", "2001:db8:0:0:0:0:0:a1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("::ffff:10.0.0.9", "10.0.0.9"),
    ],
)
def test_an_address_is_written_as_by_java(written: str, by_java: str) -> None:
    assert java_address(written) == by_java


@pytest.mark.parametrize("text", ["*", "", "10.0.0.0/8", "example.com", "010.0.0.1", "1.2.3"])
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert java_address(text) == text
