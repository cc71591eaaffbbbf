"""The hash of keys is the one of Kafka's Java client."""

import pytest

from moldau.records.murmur import murmur2, murmur2_at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_the_hash_is_the_one_of_java(text: str, expected: int) -> None:
    assert murmur2(text.encode()) == expected


def test_the_hash_is_of_the_bytes_named() -> None:
    assert murmur2_at(memoryview(b"..foobar."), 2, 6) == murmur2(b"foobar")
