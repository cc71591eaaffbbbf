"""Compression codecs of record batches, as Kafka's clients frame them.

Every decompression is bounded: output beyond the caller's limit is refused before memory
for it is taken, so a small message that claims to be a huge one costs nothing.
"""

from enum import IntEnum

import cramjam

from moldau.errors import ProtocolError
from moldau.records import gzip_members, lz4, xerial
from moldau.records.bounded import decompress_bounded
from moldau.records.buffers import ANY_NUMBER, Allocate, ReadableBuffer, room

ZSTD_LEVEL_DEFAULT = 3


class Codec(IntEnum):
    """How the records of a batch are compressed; the number is in its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODECS = tuple(Codec)


def codec_of(number: int) -> Codec:
    """Return the codec with this number; 5 to 7 are not assigned."""
    try:
        return _CODECS[number]
    except IndexError:
        raise ProtocolError(f"unknown compression codec {number}") from None


def compress(codec: Codec, data: ReadableBuffer, level: int | None = None) -> ReadableBuffer:
    """Compress for any Kafka client to read; without `level` at the codec's default.

    Levels are Kafka's: gzip -1 to 9, lz4 1 to 17, zstd -131072 to 22; snappy has none.
    """
    match codec:
        case Codec.NONE:
            return data
        case Codec.GZIP:
            return gzip_members.compress(
                data, gzip_members.LEVEL_DEFAULT if level is None else level
            )
        case Codec.SNAPPY:
            return xerial.compress(data)
        case Codec.LZ4:
            return lz4.compress(data, lz4.LEVEL_DEFAULT if level is None else level)
        case Codec.ZSTD:
            zstd_level = ZSTD_LEVEL_DEFAULT if level is None else level
            return memoryview(cramjam.zstd.compress(data, level=zstd_level))


def decompress(
    codec: Codec,
    data: ReadableBuffer,
    *,
    limit_bytes: int,
    allocate: Allocate = room,
    pieces_max: int = ANY_NUMBER,
) -> ReadableBuffer:
    """Decompress into at most `limit_bytes`; anything malformed or larger is refused.

    The result may be in memory that `allocate` gave; not every codec has a use for it. Nor do
    all consist of pieces that we put together.
    """
    match codec:
        case Codec.NONE:
            if len(data) > limit_bytes:
                raise ProtocolError(f"{len(data)} bytes are more than {limit_bytes}")
            return data
        case Codec.GZIP:
            return gzip_members.decompress(data, limit_bytes=limit_bytes, pieces_max=pieces_max)
        case Codec.SNAPPY:
            return xerial.decompress(
                data, limit_bytes=limit_bytes, allocate=allocate, pieces_max=pieces_max
            )
        case Codec.LZ4:
            return lz4.decompress(
                data, limit_bytes=limit_bytes, allocate=allocate, pieces_max=pieces_max
            )
        case Codec.ZSTD:
            return decompress_bounded(
                cramjam.zstd.decompress_into, data, limit_bytes=limit_bytes, allocate=allocate
            )
