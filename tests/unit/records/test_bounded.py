"""Decompression into a buffer of bounded size."""

import cramjam
import pytest

from moldau.errors import ProtocolError
from moldau.records.bounded import decompress_bounded

SMALL = b"data" * 10
LARGE = bytes(5_000_000)  # grows more than the first guess allows


@pytest.mark.parametrize("data", [b"", SMALL, LARGE])
def test_data_up_to_the_limit_is_returned(data: bytes) -> None:
    compressed = bytes(cramjam.zstd.compress(data))
    output = decompress_bounded(cramjam.zstd.decompress_into, compressed, limit_bytes=len(data))
    assert output == data


@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_one_byte_more_than_the_limit_is_refused(data: bytes) -> None:
    compressed = bytes(cramjam.zstd.compress(data))
    with pytest.raises(ProtocolError):
        decompress_bounded(cramjam.zstd.decompress_into, compressed, limit_bytes=len(data) - 1)


def test_a_guess_that_is_too_small_is_followed_by_the_limit_alone() -> None:
    capacities: list[int] = []

    def refuse(_data: object, output: memoryview) -> int:
        capacities.append(len(output))
        raise cramjam.DecompressionError("no")

    with pytest.raises(ProtocolError):
        decompress_bounded(refuse, bytes(10_000), limit_bytes=1_000_000)
    assert capacities == [80_000, 1_000_000]
