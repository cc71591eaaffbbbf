"""LZ4 frames as Kafka's clients exchange them.

    04 22 4d 18          magic
    FLG, BD              version, flags; largest block 64 KiB, 256 KiB, 1 MiB or 4 MiB
    content size         int64, optional
    HC                   second byte of xxHash-32 of FLG to content size
    blocks               uint32 size (top bit: stored as it is), data, optional checksum
    00 00 00 00          end; an optional checksum of the content follows

All integers are little-endian. Java's clients read blocks only if they are independent of
each other, so that is what we write. Frames like theirs are decoded here block by block,
three times as fast as by the frame decoder, which reads all other kinds.

In messages of magic 0 the header checksum wrongly includes the frame's magic (KAFKA-3160):
`with_old_checksum` makes such a frame, and reading accepts it on request.
"""

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct

import cramjam

from moldau.errors import ProtocolError
from moldau.records.bounded import decompress_bounded
from moldau.records.buffers import ANY_NUMBER, Allocate, ReadableBuffer, room
from moldau.records.xxhash32 import xxhash32

LEVEL_DEFAULT = 9  # Kafka's number for the fast compressor; all others mean "high compression"
BLOCK_SIZE = 64 * 1024

_MAGIC = b"\x04\x22\x4d\x18"
_HEADER = _MAGIC + b"\x60\x40\x82"  # version 1, independent blocks of 64 KiB, no checksums
_END = b"\x00\x00\x00\x00"
_UINT32 = Struct("<I")
_INT64 = Struct("<q")

_VERSION_MASK = 0xC0
_VERSION = 0x40
_INDEPENDENT = 0x20
_BLOCK_CHECKSUM = 0x10
_CONTENT_SIZE = 0x08
_CONTENT_CHECKSUM = 0x04
_RESERVED = 0x02
_DICTIONARY = 0x01
_BLOCK_SIZES = {0x40: 64 << 10, 0x50: 256 << 10, 0x60: 1 << 20, 0x70: 4 << 20}

_STORED = 0x8000_0000
_RATIO_MAX = 255  # one more byte of a match length stands for at most 255 bytes
# The library's levels of high compression; below it is as fast as our default.
_HIGH_LEVEL_MIN = 3
_HIGH_LEVEL_MAX = 12


def compress(data: ReadableBuffer, level: int = LEVEL_DEFAULT) -> bytes:
    """Compress into one frame of independent blocks; levels run from 1 to 17 as in Kafka."""
    if level != LEVEL_DEFAULT:
        high_level = min(max(level, _HIGH_LEVEL_MIN), _HIGH_LEVEL_MAX)
        compressor = cramjam.lz4.Compressor(
            level=high_level, content_checksum=False, block_linked=False
        )
        compressor.compress(bytes(data))
        return bytes(compressor.finish())
    parts: list[ReadableBuffer] = [_HEADER]
    view = memoryview(data)
    for start in range(0, len(view), BLOCK_SIZE):
        block = view[start : start + BLOCK_SIZE]
        compressed = memoryview(cramjam.lz4.compress_block(block, store_size=False))
        if len(compressed) < len(block):
            parts += (_UINT32.pack(len(compressed)), compressed)
        else:
            parts += (_UINT32.pack(len(block) | _STORED), block)
    parts.append(_END)
    return b"".join(parts)


def decompress(
    data: ReadableBuffer,
    *,
    limit_bytes: int,
    accept_old_checksum: bool = False,
    allocate: Allocate = room,
    pieces_max: int = ANY_NUMBER,
) -> memoryview:
    """Decompress one frame of any legal kind into at most `limit_bytes`."""
    view = memoryview(data)
    flags, block_size, position = _read_header(view, accept_old_checksum)
    if flags & _CONTENT_SIZE and _INT64.unpack_from(view, 6)[0] > limit_bytes:
        raise ProtocolError(f"lz4: more than {limit_bytes} bytes when decompressed")
    if flags & (_INDEPENDENT | _BLOCK_CHECKSUM | _CONTENT_CHECKSUM) == _INDEPENDENT:
        return _decompress_blocks(view[position:], block_size, limit_bytes, allocate, pieces_max)
    return _decompress_frame(view, position, limit_bytes, allocate)


def has_linked_blocks(data: ReadableBuffer) -> bool:
    """Whether a block of this frame may refer to the one before, which Java cannot read."""
    return len(data) > 4 and not data[4] & _INDEPENDENT


def with_old_checksum(frame: bytes) -> bytes:
    """Return the frame as clients of magic 0 messages expect it (KAFKA-3160)."""
    checksum_position = _read_header(memoryview(frame), accept_old_checksum=False)[2] - 1
    wrong = _header_checksum(frame[:checksum_position])
    return frame[:checksum_position] + bytes((wrong,)) + frame[checksum_position + 1 :]


def _read_header(frame: memoryview, accept_old_checksum: bool) -> tuple[int, int, int]:
    """Return flags, largest block and the position of the first block."""
    if frame[:4] != _MAGIC:
        raise ProtocolError("lz4: not a frame")
    if frame[: len(_HEADER)] == _HEADER:
        return _HEADER[4], BLOCK_SIZE, len(_HEADER)
    flags = frame[4] if len(frame) > 4 else 0
    checksum_position = 14 if flags & _CONTENT_SIZE else 6
    if len(frame) <= checksum_position:
        raise ProtocolError("lz4: frame header is cut off")
    if flags & (_VERSION_MASK | _RESERVED | _DICTIONARY) != _VERSION:
        raise ProtocolError(f"lz4: unsupported frame flags {flags:#04x}")
    block_size = _BLOCK_SIZES.get(frame[5])
    if block_size is None:
        raise ProtocolError(f"lz4: unknown block size {frame[5]:#04x}")
    checksum = frame[checksum_position]
    if checksum != _header_checksum(bytes(frame[4:checksum_position])) and not (
        accept_old_checksum and checksum == _header_checksum(bytes(frame[:checksum_position]))
    ):
        raise ProtocolError("lz4: frame header has a wrong checksum")
    return flags, block_size, checksum_position + 1


def _decompress_blocks(
    blocks: memoryview, block_size: int, limit_bytes: int, allocate: Allocate, count_max: int
) -> memoryview:
    # All blocks are found twice, so that a frame of tiny ones takes no list of them.
    capacity = 0
    for count, (_, block) in enumerate(_iterate_blocks(blocks, block_size), 1):
        if count > count_max:
            raise ProtocolError(f"lz4: more than {count_max} blocks")
        capacity += min(block_size, len(block) * _RATIO_MAX)
    capacity = min(capacity, limit_bytes)
    output = allocate(capacity)[:capacity]
    size = 0
    for is_stored, block in _iterate_blocks(blocks, block_size):
        target = output[size : size + block_size]
        if is_stored:
            if len(block) > len(target):
                raise ProtocolError(f"lz4: more than {limit_bytes} bytes when decompressed")
            target[: len(block)] = block
            size += len(block)
            continue
        try:
            # Without output_len the first bytes would be taken for a size.
            size += cramjam.lz4.decompress_block_into(block, target, output_len=len(target))
        except cramjam.DecompressionError as error:
            raise ProtocolError(f"lz4: {error}") from None
    return output[:size]


def _iterate_blocks(frame: memoryview, block_size: int) -> Iterator[tuple[bool, memoryview]]:
    """Yield each block and whether it is stored as it is."""
    position = 0
    while True:
        start = position + _UINT32.size
        if start > len(frame):
            raise ProtocolError("lz4: frame is cut off")
        (field,) = _UINT32.unpack_from(frame, position)
        if field == 0:
            break
        size = field & ~_STORED
        position = start + size
        if size > block_size or position > len(frame):
            raise ProtocolError(f"lz4: block of {size} bytes does not fit its frame")
        yield field >= _STORED, frame[start:position]
    if start != len(frame):
        raise ProtocolError(f"lz4: {len(frame) - start} bytes after the frame")


def _decompress_frame(
    frame: memoryview, position: int, limit_bytes: int, allocate: Allocate
) -> memoryview:
    """Leave linked blocks and checksums to the library, which wants a sound header."""
    checksum = _header_checksum(bytes(frame[4 : position - 1]))
    if frame[position - 1] != checksum:
        repaired = bytearray(frame)
        repaired[position - 1] = checksum
        frame = memoryview(repaired)
    return decompress_bounded(
        cramjam.lz4.decompress_into, frame, limit_bytes=limit_bytes, allocate=allocate
    )


@lru_cache(maxsize=64)
def _header_checksum(descriptor: bytes) -> int:
    return xxhash32(descriptor) >> 8 & 0xFF
