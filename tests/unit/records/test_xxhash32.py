"""xxHash-32."""

import pytest

from moldau.records.xxhash32 import xxhash32


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0x02CC5D05),
        (b"a", 0x550D7456),
        (b"abc", 0x32D153FF),
        (b"Nobody inspects the spammish repetition", 0xE2293B2F),
    ],
)
def test_known_hashes(data: bytes, expected: int) -> None:
    assert xxhash32(data) == expected
