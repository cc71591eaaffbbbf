"""Single records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import ProtocolError
from moldau.records.record import (
    Record,
    append_varint,
    decode_records,
    encode_records,
    read_varint,
)

FULL = Record(7, 1000, b"key", None, ((b"a", b"1"), (b"", None)))


def encode(*records: Record) -> bytearray:
    return encode_records(records, base_offset=5, base_timestamp=900)


def decode(section: bytes | bytearray, record_count: int = 1) -> list[Record]:
    return list(
        decode_records(section, record_count=record_count, base_offset=5, base_timestamp=900)
    )


def test_a_record_has_the_documented_bytes() -> None:
    # length, attributes, timestamp, offset, key, value, two headers
    assert encode(FULL) == bytes.fromhex("20 00 c801 04 066b6579 01 04 0261 0231 00 01")


def test_a_record_is_read_back_with_its_headers() -> None:
    assert decode(encode(FULL)) == [FULL]


def test_a_section_without_records_is_empty() -> None:
    assert decode(b"", 0) == []


@pytest.mark.parametrize("size", range(len(encode(FULL))))
def test_every_cut_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError):
        decode(encode(FULL)[:size])


@pytest.mark.parametrize(
    "section",
    [
        "01",  # a length of -1
        "0e00000003020000",  # a key of -2 bytes
        "0e00000001030000",  # a value of -2 bytes
        "0c000000010101",  # -1 headers
        "0c000000010106",  # 3 headers in no byte
        "100000000101020100",  # a header with a null key
        "0e00000001010000",  # one byte more than the fields
        "0c00000001010000",  # one byte after the last record
        "1800" + "ff" * 10 + "00",  # a timestamp of more than ten bytes
        "140000008080808010010100",  # an offset of 33 bits
    ],
)
def test_a_malformed_record_is_refused(section: str) -> None:
    with pytest.raises(ProtocolError):
        decode(bytes.fromhex(section))


def test_more_records_than_there_are_is_refused() -> None:
    with pytest.raises(ProtocolError):
        decode(encode(FULL), 2)


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_are_read_back(value: int) -> None:
    data = bytearray(b"\xff")
    append_varint(data, value)
    assert read_varint(data, 1, bits=64) == (value, len(data))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (64, "8001"), (-65, "8101")],
)
def test_varints_are_zig_zag(value: int, encoded: str) -> None:
    data = bytearray()
    append_varint(data, value)
    assert data.hex() == encoded


@given(st.binary(max_size=60))
def test_any_bytes_are_records_or_a_protocol_error(section: bytes) -> None:
    try:
        decode(section, 2)
    except ProtocolError:
        return


def test_timestamps_at_both_ends_of_the_range_fit_one_batch() -> None:
    far = [Record(5, -(2**63), None, None), Record(6, 2**63 - 1, None, None)]
    assert decode(encode(*far), 2) == far
