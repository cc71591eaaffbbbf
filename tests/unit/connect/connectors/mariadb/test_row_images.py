"""Values as the log has them; the texts are those that MariaDB 10.11 prints for the same rows."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.connect.connectors.mariadb.row_images import (
    BIT,
    BLOB,
    DATE,
    DATETIME,
    DECIMAL,
    DOUBLE,
    ENUM,
    FLOAT,
    GEOMETRY,
    INT24,
    JSON,
    LONG,
    LONGLONG,
    SET,
    SHORT,
    STRING,
    TIME,
    TIMESTAMP,
    TINY,
    VARCHAR,
    YEAR,
    LogColumn,
    RowDecoder,
    float_text,
)
from moldau.errors import ProtocolError


def text_of(column: LogColumn, data: str) -> object:
    """Of a row with one column."""
    ((text,),) = RowDecoder([column]).rows(b"\0" + bytes.fromhex(data))
    return text


@pytest.mark.parametrize(
    ("column", "data", "text"),
    [
        (LogColumn("c", TINY), "80", "-128"),
        (LogColumn("c", TINY, is_unsigned=True), "ff", "255"),
        (LogColumn("c", SHORT), "0080", "-32768"),
        (LogColumn("c", INT24), "000080", "-8388608"),
        (LogColumn("c", INT24, is_unsigned=True), "ffffff", "16777215"),
        (LogColumn("c", LONG), "00000080", "-2147483648"),
        (LogColumn("c", LONGLONG, is_unsigned=True), "ff" * 8, "18446744073709551615"),
        (LogColumn("c", FLOAT), "0000c03f", "1.5"),
        (LogColumn("c", DOUBLE), "ed5b47cae292c4d4", "-2.25e+100"),
        (LogColumn("c", DECIMAL, size=10, digits=2), "7f439eb1a5", "-12345678.90"),
        (
            LogColumn("c", DECIMAL, size=30, digits=10),
            "8c149aa4350dfb38d200bc614e09",
            "12345678901234567890.0123456789",
        ),
        (LogColumn("c", DECIMAL, size=5), "81869f", "99999"),
        (LogColumn("c", DECIMAL, size=9, digits=3), "8000000001", "0.001"),
        (LogColumn("c", BIT, size=1), "01", "1"),
        (LogColumn("c", BIT, size=9), "0155", "101010101"),
        (LogColumn("c", STRING, size=5, encoding="cp1252"), "026162", "ab"),
        (LogColumn("c", VARCHAR, size=20, encoding="cp1252"), "046772fc6e", "grün"),
        (LogColumn("c", VARCHAR, size=20, encoding="cp1252"), "026781", "g\x81"),
        (LogColumn("c", VARCHAR, size=300, encoding="utf8"), "050067 72c3bc6e", "grün"),
        (LogColumn("c", BLOB, size=3, encoding="utf8"), "060000 6d656469756d", "medium"),
        (LogColumn("c", STRING, size=4), "026162", "61620000"),
        (LogColumn("c", VARCHAR, size=10), "03610062", "610062"),
        (LogColumn("c", BLOB, size=2), "0400626c0062", "626c0062"),
        (LogColumn("c", DATE), "5dd00f", "2024-02-29"),
        (LogColumn("c", DATE), "000000", "0000-00-00"),
        (LogColumn("c", TIME), "7e8105", "-23:59:59"),
        (LogColumn("c", TIME, digits=3), "80a0001388", "10:00:00.500"),
        (LogColumn("c", TIME, digits=6), "4b9104fe1dc0", "-838:59:59.123456"),
        (LogColumn("c", DATETIME), "99b2baa8b8", "2024-02-29 10:34:56"),
        (LogColumn("c", DATETIME, digits=3), "99b2baa8b804ce", "2024-02-29 10:34:56.123"),
        (LogColumn("c", DATETIME, digits=6), "8cb2420000000001", "1000-01-01 00:00:00.000001"),
        (LogColumn("c", TIMESTAMP), "65e05dd0", "2024-02-29 10:34:56"),
        (LogColumn("c", TIMESTAMP, digits=6), "65e05dd001e240", "2024-02-29 10:34:56.123456"),
        (LogColumn("c", TIMESTAMP, digits=1), "0000000000", "0000-00-00 00:00:00.0"),
        (LogColumn("c", YEAR), "7c", "2024"),
        (LogColumn("c", YEAR), "00", "0"),
        (LogColumn("c", ENUM, size=1, labels=("a", "b,c", "d")), "02", "b,c"),
        (LogColumn("c", ENUM, size=1, labels=("a",)), "00", ""),
        (LogColumn("c", SET, size=1, labels=("x", "y", "z")), "05", "x,z"),
        (LogColumn("c", STRING, size=16, form="inet6"), "1020010db8" + "00" * 11 + "01", None),
        (LogColumn("c", STRING, size=4, form="inet4"), "040a010203", "10.1.2.3"),
        (
            LogColumn("c", STRING, size=16, form="uuid"),
            "0e123e4567e89b12d3a45642665544",
            "123e4567-e89b-12d3-a456-426655440000",
        ),
        (LogColumn("c", GEOMETRY, size=1), "02aabb", "aabb"),
    ],
)
def test_each_type_has_its_text(column: LogColumn, data: str, text: str | None) -> None:
    wanted = "2001:db8::1" if text is None else text
    assert text_of(column, data) == wanted


def test_nulls_are_in_the_bitmap_and_rows_follow_each_other() -> None:
    columns = [LogColumn(f"c{number}", TINY) for number in range(9)]
    rows = RowDecoder(columns).rows(
        b"\xfe\x01" + b"\x07" + b"\x00\x00" + bytes(range(9)) + b"\xff\x01"
    )
    assert rows == [["7", *[None] * 8], [str(number) for number in range(9)], [None] * 9]


def test_json_is_what_its_reader_says() -> None:
    decoder = RowDecoder([LogColumn("c", JSON, size=1)], lambda data: f"<{data.decode()}>")
    assert decoder.rows(b"\0\x02ab") == [["<ab>"]]


def test_a_type_that_is_not_known_is_named() -> None:
    with pytest.raises(ProtocolError, match="column old has type 12, which is not known here"):
        RowDecoder([LogColumn("old", 12)])


def test_rows_that_do_not_fit_are_refused() -> None:
    text = LogColumn("c", VARCHAR, size=20, encoding="utf8")
    for data in ("0005 6162", "0002 ff fe", "00"):
        with pytest.raises(ProtocolError):
            RowDecoder([text]).rows(bytes.fromhex(data))
    with pytest.raises(ProtocolError, match="behind their event"):
        RowDecoder([LogColumn("c", INT24)]).rows(b"\0\1")
    with pytest.raises(ProtocolError, match="no columns"):
        RowDecoder([])


@given(st.binary(max_size=40))
def test_hostile_bytes_are_refused_and_nothing_else(data: bytes) -> None:
    columns = [
        *(LogColumn("a", LONG), LogColumn("b", VARCHAR, size=9, encoding="utf8")),
        *(LogColumn("c", DECIMAL, size=10, digits=2), LogColumn("d", DATETIME, digits=6)),
        *(LogColumn("e", ENUM, size=1, labels=("x",)), LogColumn("f", TIME, digits=3)),
    ]
    with suppress(ProtocolError):
        RowDecoder(columns).rows(data)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_number_of_four_bytes_is_told_from_others(value: float) -> None:
    text = float_text(value)
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)


def test_a_number_of_four_bytes_has_no_digits_too_many() -> None:
    assert float_text(struct.unpack("<f", struct.pack("<f", 0.1))[0]) == "0.1"
    assert float_text(16777215.0) == "16777215.0"


@given(
    st.integers(1, 65).flatmap(
        lambda size: st.tuples(
            st.just(size), st.integers(0, min(size, 38)), st.integers(-(10**size) + 1, 10**size - 1)
        )
    )
)
def test_decimals_of_all_sizes(case: tuple[int, int, int]) -> None:
    size, scale, number = case
    shown = str(abs(number)).zfill(scale + 1)
    point = len(shown) - scale
    text = f"{'-' if number < 0 else ''}{shown[:point]}{'.' if scale else ''}{shown[point:]}"
    assert (
        text_of(LogColumn("c", DECIMAL, size=size, digits=scale), packed(number, size, scale))
        == text
    )


def packed(number: int, size: int, scale: int) -> str:
    """As MariaDB packs a decimal: see decimal2bin in its sources."""
    digits = str(abs(number)).zfill(size)
    whole, fraction = digits[: size - scale], digits[size - scale :]
    sizes = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
    first = len(whole) % 9
    parts = [whole[:first], *(whole[at : at + 9] for at in range(first, len(whole), 9))]
    parts += [fraction[at : at + 9] for at in range(0, len(fraction), 9)]
    data = b"".join(int(each).to_bytes(sizes[len(each)], "big") for each in parts if each)
    if number < 0:
        data = bytes(each ^ 0xFF for each in data)
    return (bytes([data[0] ^ 0x80]) + data[1:]).hex()
