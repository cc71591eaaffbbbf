"""The tail of flexible structs."""

import tracemalloc

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.tagged import decode_tag, encode_tagged, skip_tagged


def test_no_fields_are_one_zero_byte() -> None:
    assert encode_tagged([]) == b"\0"


def test_fields_are_written_with_tag_and_size() -> None:
    assert encode_tagged([(0, b"ab"), (200, b"c")]) == bytes.fromhex("02 00 02 6162 c801 01 63")


def test_skipping_ends_after_the_last_field() -> None:
    tail = encode_tagged([(0, b"ab"), (200, b"c" * 200)])
    assert skip_tagged(tail + b"rest", 1) == len(tail)


def test_a_count_of_many_fields_is_a_varint() -> None:
    tail = encode_tagged([(tag, b"") for tag in range(130)])
    assert skip_tagged(tail, 1) == len(tail)


def test_a_tag_is_read_with_the_bounds_of_its_value() -> None:
    assert decode_tag(b"\x05\x03abc", 0, -1) == (5, 2, 5)


@pytest.mark.parametrize("previous", [5, 6])
def test_repeated_and_descending_tags_are_refused(previous: int) -> None:
    with pytest.raises(ProtocolError, match=f"tag 5 follows tag {previous}"):
        decode_tag(b"\x05\x00", 0, previous)


def test_a_size_beyond_the_end_is_refused() -> None:
    with pytest.raises(ProtocolError, match="claims 4 bytes, 3 are left"):
        skip_tagged(b"\x01\x05\x04abc", 1)


def test_cve_2026_111115_unknown_fields_are_skipped_and_not_kept() -> None:
    """With Kafka each of them became an object that lived as long as the request."""
    tail = encode_tagged([(tag, b"") for tag in range(100_000)])
    assert len(tail) > 300_000
    tracemalloc.start()
    try:
        assert skip_tagged(tail, 1) == len(tail)
        # Threads of other tests count as well; these fields would take some megabytes.
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
