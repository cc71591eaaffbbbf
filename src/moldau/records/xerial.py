"""Snappy payloads: raw, or in the blocks of Java's snappy library ("Xerial").

    82 'SNAPPY' 00, int32 version 1, int32 oldest compatible version 1,
    then blocks: int32 compressed size, raw snappy

Java writes blocks of 32 KiB; librdkafka and others write one raw payload. Raw snappy
starts with its decompressed size, which can never look like Xerial's first bytes.
"""

from collections.abc import Iterator
from itertools import islice
from struct import Struct

import cramjam

from moldau.errors import ProtocolError
from moldau.records.buffers import ANY_NUMBER, Allocate, ReadableBuffer, room

MAGIC = b"\x82SNAPPY\x00"
HEADER_SIZE = 16
BLOCK_SIZE = 32 * 1024

_HEADER = MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_SIZE = Struct(">i")
# The densest element is a three-byte copy of 64 bytes: a claim of much more is false.
_RATIO_MAX = 64


def compress(data: ReadableBuffer) -> bytearray:
    """Compress into Xerial blocks, which every client reads."""
    framed = bytearray(_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), BLOCK_SIZE):
        block = cramjam.snappy.compress_raw(view[start : start + BLOCK_SIZE])
        framed += _SIZE.pack(len(block))
        framed += memoryview(block)
    return framed


def decompress(
    data: ReadableBuffer,
    *,
    limit_bytes: int,
    allocate: Allocate = room,
    pieces_max: int = ANY_NUMBER,
) -> memoryview:
    """Decompress raw or Xerial snappy into at most `limit_bytes`."""
    view = memoryview(data)
    blocks = [view] if view[: len(MAGIC)] != MAGIC else _blocks(view, pieces_max)
    sizes = []
    remaining = limit_bytes
    for block in blocks:
        sizes.append(_decompressed_size(block, remaining))
        remaining -= sizes[-1]
    capacity = limit_bytes - remaining
    output = allocate(capacity)[:capacity]
    position = 0
    for block, size in zip(blocks, sizes, strict=True):
        target = output[position : position + size]
        try:
            written = cramjam.snappy.decompress_raw_into(block, target)
        except cramjam.DecompressionError as error:
            raise ProtocolError(f"snappy: {error}") from None
        if written != size:
            raise ProtocolError(f"snappy: a block of {size} bytes has {written}")
        position += size
    return output


def _blocks(view: memoryview, count_max: int) -> list[memoryview]:
    blocks = list(islice(_iterate_blocks(view), count_max + 1))
    if len(blocks) > count_max:
        raise ProtocolError(f"snappy: more than {count_max} blocks")
    return blocks


def _iterate_blocks(view: memoryview) -> Iterator[memoryview]:
    if len(view) < HEADER_SIZE:
        raise ProtocolError("snappy: Xerial header is cut off")
    position = HEADER_SIZE
    while position < len(view):
        start = position + _SIZE.size
        if start > len(view):
            raise ProtocolError("snappy: block size is cut off")
        (size,) = _SIZE.unpack_from(view, position)
        position = start + size
        if size < 0 or position > len(view):
            raise ProtocolError(f"snappy: block of {size} bytes does not fit its payload")
        yield view[start:position]


def _decompressed_size(block: memoryview, limit_bytes: int) -> int:
    """What a block says of itself, if it can be true."""
    try:
        size: int = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as error:
        raise ProtocolError(f"snappy: {error}") from None
    if size > limit_bytes or size > _RATIO_MAX * len(block):
        raise ProtocolError(f"snappy: {size} bytes when decompressed are too many")
    return size
