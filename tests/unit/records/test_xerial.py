"""Snappy, raw and in Xerial blocks."""

import random
import struct
import tracemalloc

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records import xerial

LIMIT = 1 << 24
HEADER = bytes.fromhex("82534e4150505900 00000001 00000001")
MIXED = random.Random(5).randbytes(100_000) + bytes(200_000) + b"some text; " * 20_000


def decompress(data: bytes | bytearray, limit_bytes: int = LIMIT) -> bytes:
    return bytes(xerial.decompress(data, limit_bytes=limit_bytes))


def block(data: bytes) -> bytes:
    raw = bytes(cramjam.snappy.compress_raw(data))
    return struct.pack(">i", len(raw)) + raw


def test_java_would_write_the_same_blocks() -> None:
    framed = xerial.compress(MIXED)
    parts = [MIXED[start : start + 32768] for start in range(0, len(MIXED), 32768)]
    assert framed == HEADER + b"".join(block(part) for part in parts)


def test_nothing_is_only_the_header() -> None:
    assert xerial.compress(b"") == HEADER
    assert decompress(HEADER) == b""


@given(st.binary(max_size=300))
def test_small_data_is_read_back_from_both_forms(data: bytes) -> None:
    assert decompress(xerial.compress(data)) == data
    assert decompress(bytes(cramjam.snappy.compress_raw(data))) == data


def test_many_blocks_are_read_back() -> None:
    assert decompress(xerial.compress(MIXED)) == MIXED


def test_a_large_raw_payload_is_read() -> None:
    assert decompress(bytes(cramjam.snappy.compress_raw(MIXED))) == MIXED


def test_blocks_of_other_sizes_are_read() -> None:
    assert decompress(HEADER + block(b"a") + block(b"") + block(MIXED)) == b"a" + MIXED


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEADER[:12],
        HEADER + b"\x00\x00\x00",
        HEADER + struct.pack(">i", -1),
        HEADER + struct.pack(">i", 2**31 - 1) + b"abc",
        HEADER + struct.pack(">i", 3) + b"\xff\xff\xff",
        HEADER + block(b"hello")[:-1],
        b"\xff\xff\xff\xff\x0f",  # 4 GiB in no byte
        b"\xff\xff\xff\xff\x0f" + bytes(100),
        b"\x05abc",
    ],
)
def test_a_malformed_payload_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decompress(data)


@pytest.mark.parametrize(
    "data", [bytes(xerial.compress(MIXED)), bytes(cramjam.snappy.compress_raw(MIXED))]
)
def test_output_is_bounded(data: bytes) -> None:
    assert decompress(data, len(MIXED)) == MIXED
    for limit in (len(MIXED) - 1, 32768, 1, 0):
        with pytest.raises(ProtocolError):
            decompress(data, limit)


@given(st.binary(max_size=60))
def test_any_bytes_are_data_or_refused(data: bytes) -> None:
    for payload in (data, HEADER + data, HEADER + struct.pack(">i", len(data)) + data):
        try:
            decompress(payload, 100_000)
        except ProtocolError:
            continue


def test_so_many_blocks_are_read_and_no_more() -> None:
    data = HEADER + block(b"a") * 1000
    assert bytes(xerial.decompress(data, limit_bytes=1000, pieces_max=1000)) == b"a" * 1000
    with pytest.raises(ProtocolError, match="more than 999 blocks"):
        xerial.decompress(data, limit_bytes=1000, pieces_max=999)


def test_cve_2023_34455_a_block_that_claims_to_be_huge_takes_no_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            decompress(HEADER + struct.pack(">i", 2**31 - 1) + b"abc")
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
