"""The codecs of record batches."""

import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records.compression import Codec, codec_of, compress, decompress

LIMIT = 1 << 24
MIXED = random.Random(5).randbytes(100_000) + bytes(200_000) + b"some text; " * 20_000
COMPRESSING = [codec for codec in Codec if codec != Codec.NONE]
every_codec = pytest.mark.parametrize("codec", list(Codec))
every_compressing_codec = pytest.mark.parametrize("codec", COMPRESSING)


@given(st.sampled_from(Codec), st.binary(max_size=300))
def test_small_data_is_read_back(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), limit_bytes=LIMIT) == data


@every_codec
def test_large_data_is_read_back(codec: Codec) -> None:
    assert decompress(codec, compress(codec, MIXED), limit_bytes=LIMIT) == MIXED


@every_codec
@pytest.mark.parametrize("level", [None, 1])
def test_any_kind_of_buffer_is_taken(codec: Codec, level: int | None) -> None:
    compressed = compress(codec, memoryview(bytearray(MIXED))[100_000:], level)
    padded = memoryview(bytearray(b"pad") + compressed)[3:]
    assert decompress(codec, padded, limit_bytes=LIMIT) == MIXED[100_000:]


@pytest.mark.parametrize(
    ("codec", "levels"),
    [
        (Codec.GZIP, (-1, 1, 6, 9)),
        (Codec.LZ4, (1, 9, 17)),
        (Codec.ZSTD, (-5, 1, 3, 22)),
        (Codec.SNAPPY, (1,)),
        (Codec.NONE, (1,)),
    ],
)
def test_every_level_of_kafka_is_taken(codec: Codec, levels: tuple[int, ...]) -> None:
    for level in levels:
        assert decompress(codec, compress(codec, MIXED, level), limit_bytes=LIMIT) == MIXED


@pytest.mark.parametrize(("codec", "low", "high"), [(Codec.GZIP, 1, 9), (Codec.ZSTD, 1, 19)])
def test_a_higher_level_compresses_more(codec: Codec, low: int, high: int) -> None:
    text = b"".join(b"%d: the value %d; " % (n, n * n) for n in range(5000))
    assert len(compress(codec, text, high)) < len(compress(codec, text, low))


@every_codec
def test_output_is_bounded(codec: Codec) -> None:
    compressed = compress(codec, MIXED)
    assert decompress(codec, compressed, limit_bytes=len(MIXED)) == MIXED
    for limit in (len(MIXED) - 1, 1, 0):
        with pytest.raises(ProtocolError):
            decompress(codec, compressed, limit_bytes=limit)


@every_compressing_codec
def test_every_cut_is_refused(codec: Codec) -> None:
    compressed = bytes(compress(codec, b"hello, hello, hello, hello"))
    # Of the snappy forms a header alone is a whole payload.
    whole = {16} if codec == Codec.SNAPPY else set()
    for size in set(range(len(compressed))) - whole:
        with pytest.raises(ProtocolError):
            decompress(codec, compressed[:size], limit_bytes=LIMIT)


@given(st.sampled_from(COMPRESSING), st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_data_or_is_refused(codec: Codec, position: int, damage: bytes) -> None:
    compressed = bytearray(compress(codec, b"hello, hello, hello, hello" * 20))
    position %= len(compressed)
    compressed[position : position + len(damage)] = damage
    try:
        decompress(codec, compressed, limit_bytes=10_000)
    except ProtocolError:
        return


@given(st.sampled_from(COMPRESSING), st.binary(max_size=100))
def test_any_bytes_are_data_or_refused(codec: Codec, data: bytes) -> None:
    try:
        decompress(codec, data, limit_bytes=10_000)
    except ProtocolError:
        return


@pytest.mark.parametrize("number", [5, 6, 7])
def test_other_codec_numbers_are_unknown(number: int) -> None:
    with pytest.raises(ProtocolError):
        codec_of(number)


def test_gzip_of_several_members_is_read() -> None:
    members = bytes(compress(Codec.GZIP, b"one")) + bytes(compress(Codec.GZIP, b"two"))
    assert decompress(Codec.GZIP, members, limit_bytes=6) == b"onetwo"


def test_gzip_is_read_by_the_standard_library() -> None:
    assert zlib.decompress(bytes(compress(Codec.GZIP, MIXED)), 31) == MIXED


def test_zstd_without_a_content_size_is_read() -> None:
    compressor = cramjam.zstd.Compressor()
    compressor.compress(MIXED)
    streamed = bytes(compressor.finish())
    assert streamed[4] & 0xE0 == 0  # neither a content size nor a single segment
    assert decompress(Codec.ZSTD, streamed, limit_bytes=LIMIT) == MIXED


def gzip_bomb() -> bytes:
    return bytes(compress(Codec.GZIP, bytes(2**20))) * 1025


def xerial_bomb() -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(2**20)))
    header = bytes(compress(Codec.SNAPPY, b""))
    return header + (struct.pack(">i", len(block)) + block) * 1025


def raw_snappy_bomb() -> bytes:
    return b"\xff\xff\xff\xff\x07" + bytes(2**20)


def lz4_bomb() -> bytes:
    block = bytes(cramjam.lz4.compress_block(bytes(2**16), store_size=False))
    header = bytes(compress(Codec.LZ4, b""))[:7]
    return header + (struct.pack("<I", len(block)) + block) * 16_400 + bytes(4)


def linked_lz4_bomb() -> bytes:
    compressor = cramjam.lz4.Compressor(level=1)
    for _ in range(1025):
        compressor.compress(bytes(2**20))
    return bytes(compressor.finish())


def zstd_bomb() -> bytes:
    # A window of 128 KiB and blocks that each repeat one byte 128 Ki times.
    repeat = struct.pack("<I", 1 << 1 | 2**17 << 3)[:3] + b"\x00"
    return bytes.fromhex("28b52ffd 00 38") + repeat * 8200 + b"\x01\x00\x00"


BOMBS = {
    gzip_bomb: Codec.GZIP,
    xerial_bomb: Codec.SNAPPY,
    raw_snappy_bomb: Codec.SNAPPY,
    lz4_bomb: Codec.LZ4,
    linked_lz4_bomb: Codec.LZ4,
    zstd_bomb: Codec.ZSTD,
}

# Libraries allocate where tracemalloc does not look, so the process itself is measured.
MEASURE = """
import re, sys
from pathlib import Path
from moldau.errors import ProtocolError
from moldau.records.compression import Codec, decompress

def peak_bytes():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

codec, limit_bytes = Codec(int(sys.argv[1])), int(sys.argv[2])
bomb = sys.stdin.buffer.read()
before = peak_bytes()
try:
    decompress(codec, bomb, limit_bytes=limit_bytes)
except ProtocolError:
    print(peak_bytes() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("bomb", list(BOMBS), ids=lambda bomb: bomb.__name__)
def test_a_bomb_takes_no_more_memory_than_the_limit(bomb: Callable[[], bytes]) -> None:
    data, limit_bytes = bomb(), 16 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(int(BOMBS[bomb])), str(limit_bytes)],
        input=data,
        capture_output=True,
        check=True,
    )
    assert int(done.stdout) < limit_bytes + len(data) + 2 * 2**20
