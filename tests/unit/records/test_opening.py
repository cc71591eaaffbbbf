"""How much of a request's records is opened where."""

import pytest

from moldau.errors import ProtocolError
from moldau.records.compression import Codec, compress
from moldau.records.opening import Opening
from moldau.records.refusal import TooLargeToOpen
from moldau.records.scratch import Scratch

CODECS = pytest.mark.parametrize("codec", Codec)


def opened(opening: Opening, codec: Codec, size: int) -> int:
    data = bytes(compress(codec, bytes(size)))
    return len(opening.open(codec, data, limit_bytes=1_000_000, allocate=bytes_of))


def bytes_of(size: int) -> memoryview:
    return memoryview(bytearray(size))


@CODECS
def test_what_is_opened_counts_by_its_size_when_open(codec: Codec) -> None:
    opening = Opening(Scratch(), 100_000)
    assert opened(opening, codec, 60_000) == 60_000
    with pytest.raises(TooLargeToOpen):
        opened(opening, codec, 60_000)
    assert opened(opening, codec, 40_000) == 40_000


@CODECS
def test_without_a_bound_there_is_the_limit_alone(codec: Codec) -> None:
    opening = Opening(Scratch())
    assert opened(opening, codec, 900_000) == opened(opening, codec, 900_000)
    with pytest.raises(ProtocolError):
        opened(opening, codec, 1_000_001)


@CODECS
def test_a_limit_below_the_bound_holds(codec: Codec) -> None:
    with pytest.raises(TooLargeToOpen):
        opened(Opening(Scratch(), 10_000_000), codec, 1_000_001)


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (Codec.GZIP, bytes(compress(Codec.GZIP, b"")) * 20_000),
        (Codec.SNAPPY, bytes(compress(Codec.SNAPPY, b"")) + b"\0\0\0\1\0" * 20_000),
        (Codec.LZ4, bytes(compress(Codec.LZ4, b"")[:-4]) + b"\1\0\0\x80a" * 20_000 + bytes(4)),
    ],
)
def test_very_many_small_pieces_are_too_large(codec: Codec, data: bytes) -> None:
    anywhere = Opening(Scratch())
    anywhere.open(codec, data, limit_bytes=1_000_000, allocate=bytes_of)
    with pytest.raises(TooLargeToOpen):
        Opening(Scratch(), 900_000).open(codec, data, limit_bytes=1_000_000, allocate=bytes_of)


def test_whether_damaged_records_are_too_large_is_not_found_out() -> None:
    with pytest.raises(TooLargeToOpen):
        Opening(Scratch(), 1000).open(
            Codec.ZSTD, b"damaged", limit_bytes=1_000_000, allocate=bytes_of
        )
