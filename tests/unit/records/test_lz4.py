"""LZ4 frames."""

import random
import struct

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records import lz4
from moldau.records.xxhash32 import xxhash32

LIMIT = 1 << 24
MAGIC = b"\x04\x22\x4d\x18"
draw = random.Random(5)
MIXED = draw.randbytes(100_000) + bytes(200_000) + b"some text; " * 20_000


def frame(flags: int, sizes: int, *blocks: bytes, tail: bytes = b"", content: bytes = b"") -> bytes:
    """Build a frame by hand; blocks come with their size field."""
    descriptor = bytes((flags, sizes)) + content
    header = MAGIC + descriptor + bytes((xxhash32(descriptor) >> 8 & 0xFF,))
    return header + b"".join(blocks) + bytes(4) + tail


def stored(data: bytes) -> bytes:
    return struct.pack("<I", len(data) | 1 << 31) + data


def packed(data: bytes) -> bytes:
    block = bytes(cramjam.lz4.compress_block(data, store_size=False))
    return struct.pack("<I", len(block)) + block


def decompress(data: bytes, limit_bytes: int = LIMIT) -> bytes:
    return bytes(lz4.decompress(data, limit_bytes=limit_bytes))


def test_frames_start_as_java_expects() -> None:
    assert lz4.compress(b"x").startswith(bytes.fromhex("04224d18604082"))
    assert lz4.compress(b"") == bytes.fromhex("04224d18604082 00000000")


@given(st.binary(max_size=300), st.integers(1, 17))
def test_small_data_is_read_back_at_every_level(data: bytes, level: int) -> None:
    assert decompress(lz4.compress(data, level)) == data


@pytest.mark.parametrize("level", [1, 5, 9, 17])
def test_many_blocks_are_read_back(level: int) -> None:
    assert decompress(lz4.compress(MIXED, level)) == MIXED


@pytest.mark.parametrize("level", [1, 5, 9, 17])
def test_the_library_reads_our_frames(level: int) -> None:
    assert bytes(cramjam.lz4.decompress(lz4.compress(MIXED, level))) == MIXED


@pytest.mark.parametrize("level", [1, 5, 9, 17])
def test_blocks_are_never_linked(level: int) -> None:
    assert not lz4.has_linked_blocks(lz4.compress(MIXED, level))


def test_a_higher_level_compresses_more() -> None:
    text = b"".join(b"%d: the value %d; " % (n, n * n) for n in range(5000))
    assert len(lz4.compress(text, 12)) < len(lz4.compress(text))


def test_data_that_does_not_compress_is_stored() -> None:
    noise = draw.randbytes(65536)
    assert lz4.compress(noise)[7:] == stored(noise) + bytes(4)


@pytest.mark.parametrize(
    ("sizes", "block_size"), [(0x40, 64 << 10), (0x50, 256 << 10), (0x60, 1 << 20), (0x70, 4 << 20)]
)
def test_every_block_size_is_read(sizes: int, block_size: int) -> None:
    data = bytes(block_size)
    assert decompress(frame(0x60, sizes, packed(data), stored(b"end"))) == data + b"end"
    with pytest.raises(ProtocolError):
        decompress(frame(0x60, sizes, packed(data + b"x")))


def test_blocks_may_be_shorter_than_they_could_be() -> None:
    assert (
        decompress(frame(0x60, 0x40, packed(b"a" * 50), packed(b"b" * 50))) == b"a" * 50 + b"b" * 50
    )


def test_linked_blocks_are_read() -> None:
    linked = bytes(cramjam.lz4.compress(MIXED))
    assert lz4.has_linked_blocks(linked)
    assert decompress(linked) == MIXED


def test_a_content_size_is_read_and_bounds() -> None:
    content = struct.pack("<q", 5)
    data = frame(0x68, 0x40, stored(b"hello"), content=content)
    assert decompress(data) == b"hello"
    with pytest.raises(ProtocolError):
        decompress(data, 4)


def test_checksums_of_block_and_content_are_verified() -> None:
    block = stored(b"hello") + struct.pack("<I", xxhash32(b"hello"))
    good = struct.pack("<I", xxhash32(b"hello"))
    assert decompress(frame(0x74, 0x40, block, tail=good)) == b"hello"
    with pytest.raises(ProtocolError):
        decompress(frame(0x74, 0x40, block, tail=b"oops"))
    with pytest.raises(ProtocolError):
        decompress(frame(0x74, 0x40, block[:-1] + b"!", tail=good))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        MAGIC,
        b"\x04\x22\x4d\x19" + bytes(20),
        frame(0x20, 0x40),  # version 0
        frame(0x62, 0x40),  # a reserved flag
        frame(0x61, 0x40),  # a dictionary
        frame(0x60, 0x30),  # no such block size
        frame(0x60, 0xC0),  # a reserved bit
        frame(0x60, 0x40, tail=b"x"),  # bytes after the frame
        frame(0x60, 0x40) * 2,  # which Java would not read
        frame(0x60, 0x40, struct.pack("<I", 5) + b"\x00"),  # a block beyond the end
        frame(0x60, 0x40, struct.pack("<I", 3) + b"\xff\xff\xff"),  # not LZ4
        frame(0x60, 0x40, struct.pack("<I", 65537 | 1 << 31) + bytes(65537)),
        bytes.fromhex("04224d18604083 00000000"),  # a wrong header checksum
    ],
)
def test_a_malformed_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decompress(data)


@pytest.mark.parametrize("flags", [0x60, 0x68])
def test_every_cut_is_refused(flags: int) -> None:
    content = struct.pack("<q", 45) if flags & 8 else b""
    data = frame(flags, 0x40, packed(b"x" * 40), stored(b"hello"), content=content)
    assert decompress(data) == b"x" * 40 + b"hello"
    for size in range(len(data)):
        with pytest.raises(ProtocolError):
            decompress(data[:size])


@pytest.mark.parametrize(
    "data", [lz4.compress(MIXED), bytes(cramjam.lz4.compress(MIXED)), lz4.compress(MIXED, 1)]
)
def test_output_is_bounded(data: bytes) -> None:
    assert decompress(data, len(MIXED)) == MIXED
    for limit in (len(MIXED) - 1, 65536, 1, 0):
        with pytest.raises(ProtocolError):
            decompress(data, limit)


@pytest.mark.parametrize("level", [9, 1])
def test_the_old_header_checksum_is_written_and_read_on_request(level: int) -> None:
    old = lz4.with_old_checksum(lz4.compress(b"hello" * 20, level))
    assert bytes(lz4.decompress(old, limit_bytes=LIMIT, accept_old_checksum=True)) == b"hello" * 20
    with pytest.raises(ProtocolError):
        decompress(old)


def test_the_old_header_checksum_is_that_of_kafka_0_8() -> None:
    assert lz4.with_old_checksum(lz4.compress(b""))[6] == 0x1A


@given(st.binary(max_size=60))
def test_any_blocks_are_data_or_refused(blocks: bytes) -> None:
    for data in (blocks, lz4.compress(b"")[:7] + blocks, bytes.fromhex("04224d185440ae") + blocks):
        try:
            decompress(data, 100_000)
        except ProtocolError:
            continue


def test_so_many_blocks_are_read_and_no_more() -> None:
    data = frame(0x60, 0x40, *[stored(b"a")] * 1000)
    assert bytes(lz4.decompress(data, limit_bytes=1000, pieces_max=1000)) == b"a" * 1000
    with pytest.raises(ProtocolError, match="more than 999 blocks"):
        lz4.decompress(data, limit_bytes=1000, pieces_max=999)
