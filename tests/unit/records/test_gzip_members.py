"""Gzip payloads."""

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records.gzip_members import compress, decompress

LIMIT = 1 << 24
MIXED = random.Random(5).randbytes(100_000) + bytes(2_000_000) + b"some text; " * 20_000


def test_the_standard_library_reads_our_members() -> None:
    assert gzip.decompress(compress(MIXED)) == MIXED


@given(st.binary(max_size=300), st.integers(-1, 9))
def test_small_data_is_read_back_at_every_level(data: bytes, level: int) -> None:
    assert decompress(compress(data, level), limit_bytes=len(data)) == data


@pytest.mark.parametrize("data", [MIXED, bytes(LIMIT), b""], ids=["mixed", "zeros", "empty"])
def test_data_of_any_ratio_is_read_back(data: bytes) -> None:
    assert decompress(gzip.compress(data), limit_bytes=LIMIT) == data


def test_several_members_are_read_in_a_row() -> None:
    parts = [b"one", b"", MIXED, b"two"]
    data = b"".join(compress(part) for part in parts)
    assert decompress(data, limit_bytes=LIMIT) == b"".join(parts)


def test_many_small_members_are_read() -> None:
    assert decompress(compress(b"x") * 10_000, limit_bytes=10_000) == b"x" * 10_000


@pytest.mark.parametrize(
    "data", [compress(MIXED), compress(MIXED[:50_000]) + compress(MIXED[50_000:])]
)
def test_output_is_bounded(data: bytes) -> None:
    assert decompress(data, limit_bytes=len(MIXED)) == MIXED
    for limit in (len(MIXED) - 1, 100_000, 1, 0):
        with pytest.raises(ProtocolError):
            decompress(data, limit_bytes=limit)


@pytest.mark.parametrize("data", [compress(b"hello"), compress(b"hello") + compress(bytes(50_000))])
def test_every_cut_is_refused(data: bytes) -> None:
    whole = {len(compress(b"hello"))}
    for size in set(range(len(data))) - whole:
        with pytest.raises(ProtocolError):
            decompress(data[:size], limit_bytes=LIMIT)


def test_a_cut_beyond_the_guess_is_refused() -> None:
    for size in range(1, 100):
        with pytest.raises(ProtocolError):
            decompress(compress(bytes(1_000_000))[:-size], limit_bytes=LIMIT)


@pytest.mark.parametrize("tail", [b"\x00", b"garbage", compress(b"x")[:5]])
def test_bytes_that_are_no_member_are_refused(tail: bytes) -> None:
    with pytest.raises(ProtocolError):
        decompress(compress(b"hello") + tail, limit_bytes=LIMIT)


def test_a_wrong_checksum_is_refused() -> None:
    data = bytearray(compress(b"hello"))
    data[-5] ^= 1
    with pytest.raises(ProtocolError):
        decompress(data, limit_bytes=LIMIT)


@given(st.binary(max_size=100))
def test_any_bytes_are_data_or_refused(data: bytes) -> None:
    for payload in (data, compress(b"")[:10] + data, compress(b"x") + data):
        try:
            decompress(payload, limit_bytes=10_000)
        except ProtocolError:
            continue


def test_so_many_members_are_read_and_no_more() -> None:
    data = compress(b"a") * 1000
    assert decompress(data, limit_bytes=1000, pieces_max=1000) == b"a" * 1000
    with pytest.raises(ProtocolError, match="more than 999 members"):
        decompress(data, limit_bytes=1000, pieces_max=999)
