"""Rows as the binary log has them, made into texts as the server prints them.

A row is a bitmap of its nulls, and the values of the other columns, one after the other, each in
the form of its type. The log's own description of the table (a table map with full metadata) says
which types those are. Numbers are little-endian, except in decimals, bits and times.
"""

import datetime as dt
import ipaddress
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from moldau.connect.connectors.capture.cells import Cell, Cells
from moldau.errors import ProtocolError

(TINY, SHORT, LONG, FLOAT, DOUBLE) = (1, 2, 3, 4, 5)
(LONGLONG, INT24, DATE, YEAR, VARCHAR, BIT) = (8, 9, 10, 13, 15, 16)
(TIMESTAMP, DATETIME, TIME, JSON, DECIMAL) = (17, 18, 19, 245, 246)
(ENUM, SET, BLOB, VAR_STRING, STRING, GEOMETRY) = (247, 248, 252, 253, 254, 255)
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - texts have no zone
_INTEGERS = {TINY: "b", SHORT: "h", LONG: "i", LONGLONG: "q"}
_LATIN1 = "cp1252"
_ZERO_TIME = "0000-00-00 00:00:00"
_DIGITS_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_FRACTION_BYTES = (0, 1, 1, 2, 2, 3, 3)

Reader = Callable[[bytes, int], tuple[str, int]]
"""Takes the value at a place; gives its text, and the place after it."""


@dataclass(frozen=True, slots=True)
class LogColumn:
    """A column as the log describes it."""

    name: str
    kind: int
    is_unsigned: bool = False
    size: int = 0
    """Of texts and bytes their greatest length, of larger ones the bytes that lengths have; of bits
    their number, of enums and sets their bytes, of decimals all digits."""
    digits: int = 0
    """After the point, or after the seconds."""
    encoding: str | None = None
    """Python's name; None for bytes."""
    labels: tuple[str, ...] = ()
    """Of an enum or a set."""
    form: str = ""
    """`uuid`, `inet4` or `inet6`, which the log does not distinguish from bytes."""


class RowDecoder:
    """Takes the rows of one table apart."""

    def __init__(
        self, columns: Sequence[LogColumn], json_text: Callable[[bytes], str] = bytes.hex
    ) -> None:
        if not columns:
            raise ProtocolError("binlog: a table has no columns")
        self._readers = [_reader(each, json_text) for each in columns]
        self._null_bytes = (len(columns) + 7) // 8

    def rows(self, data: bytes) -> list[Cells]:
        """All rows of an event; ProtocolError if they do not end where it does."""
        found: list[Cells] = []
        at, end, readers = 0, len(data), self._readers
        try:
            while at < end:
                nulls = int.from_bytes(data[at : at + self._null_bytes], "little")
                at += self._null_bytes
                row: list[Cell] = []
                for read in readers:
                    if nulls & 1:
                        row.append(None)
                    else:
                        text, at = read(data, at)
                        row.append(text)
                    nulls >>= 1
                found.append(row)
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise ProtocolError(f"binlog: rows that do not fit their table: {error}") from error
        if at != end:
            raise ProtocolError(f"binlog: rows end {at - end} bytes behind their event")
        return found


def _reader(column: LogColumn, json_text: Callable[[bytes], str]) -> Reader:
    kind = column.kind
    if kind in _INTEGERS:
        letter = _INTEGERS[kind]
        return _number(struct.Struct(f"<{letter.upper() if column.is_unsigned else letter}"))
    if kind in (VARCHAR, VAR_STRING, STRING):
        return _sized(1 if column.size < 256 else 2, _text_of(column))
    if kind == BLOB:
        return _sized(column.size, _text_of(column))
    if kind == GEOMETRY:
        return _sized(column.size, bytes.hex)
    if kind == JSON:
        return _sized(column.size, json_text)
    made = _MAKERS.get(kind)
    if made is None:
        raise ProtocolError(
            f"binlog: column {column.name} has type {kind}, which is not known here: leave it out "
            "by changing the column (compressed columns and times of before MySQL 5.6 are such)"
        )
    return made(column)


def _number(layout: struct.Struct) -> Reader:
    size, unpack = layout.size, layout.unpack_from

    def read(data: bytes, at: int) -> tuple[str, int]:
        return str(unpack(data, at)[0]), at + size

    return read


def _sized(size: int, made: Callable[[bytes], str]) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        begin = at + size
        end = begin + int.from_bytes(data[at:begin], "little")
        if end > len(data):
            raise IndexError(f"{end - begin} bytes are announced, and not there")
        return made(data[begin:end]), end

    return read


def _text_of(column: LogColumn) -> Callable[[bytes], str]:
    encoding = column.encoding
    if encoding == _LATIN1:
        return _latin1_text
    if encoding is not None:
        return lambda data: data.decode(encoding)
    # The log leaves out zeros at the end of what has a fixed length.
    width = column.size if column.kind == STRING else 0
    if column.form == "uuid":
        return lambda data: str(uuid.UUID(bytes=data.ljust(16, b"\0")))
    if column.form in ("inet4", "inet6"):
        return lambda data: str(ipaddress.ip_address(data.ljust(width, b"\0")))
    return lambda data: data.ljust(width, b"\0").hex()


def _latin1_text(data: bytes) -> str:
    """MariaDB's latin1 is Windows' code page, and has control characters where that has nothing."""
    try:
        return data.decode(_LATIN1)
    except UnicodeDecodeError:
        pairs = ((bytes([each]).decode(_LATIN1, "ignore"), chr(each)) for each in data)
        return "".join(known or control for known, control in pairs)


def _int24(column: LogColumn) -> Reader:
    is_signed = not column.is_unsigned

    def read(data: bytes, at: int) -> tuple[str, int]:
        return str(int.from_bytes(data[at : at + 3], "little", signed=is_signed)), at + 3

    return read


def float_text(value: float) -> str:
    """A number of four bytes, in as few digits as distinguish it from others."""
    shown = next(
        (
            text
            for digits in range(6, 9)
            if struct.pack("<f", float(text := f"{value:.{digits}g}")) == struct.pack("<f", value)
        ),
        f"{value:.9g}",
    )
    return repr(float(shown))


def _float(_: LogColumn) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        return float_text(struct.unpack_from("<f", data, at)[0]), at + 4

    return read


def _double(_: LogColumn) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        return repr(struct.unpack_from("<d", data, at)[0]), at + 8

    return read


def _year(_: LogColumn) -> Reader:
    return lambda data, at: (str(data[at] + 1900 if data[at] else 0), at + 1)


def _enum(column: LogColumn) -> Reader:
    labels, size = ("", *column.labels), column.size

    def read(data: bytes, at: int) -> tuple[str, int]:
        return labels[int.from_bytes(data[at : at + size], "little")], at + size

    return read


def _set(column: LogColumn) -> Reader:
    labels, size = column.labels, column.size

    def read(data: bytes, at: int) -> tuple[str, int]:
        bits = int.from_bytes(data[at : at + size], "little")
        chosen = (label for place, label in enumerate(labels) if bits >> place & 1)
        return ",".join(chosen), at + size

    return read


def _bits(column: LogColumn) -> Reader:
    bits, size = column.size, (column.size + 7) // 8
    return lambda data, at: (bits_text(data[at : at + size], bits), at + size)


def bits_text(data: bytes, bits: int) -> str:
    """Bits as `10110`, the first one first."""
    return f"{int.from_bytes(data, 'big'):0{bits}b}"


def _decimal(column: LogColumn) -> Reader:
    """Groups of nine digits in four bytes, fewer at both ends; of negative ones all bits turned."""
    scale, whole = column.digits, column.size - column.digits
    groups = [whole % 9, *[9] * (whole // 9), *[9] * (scale // 9), scale % 9]
    sizes = [_DIGITS_BYTES[each] for each in groups]
    size, places = sum(sizes), [sum(sizes[:at]) for at in range(len(sizes) + 1)]

    def read(data: bytes, at: int) -> tuple[str, int]:
        number = int.from_bytes(data[at : at + size], "big") ^ (1 << size * 8 - 1)
        is_negative = not data[at] & 0x80
        if is_negative:
            number ^= (1 << size * 8) - 1
        raw = number.to_bytes(size, "big")
        total = 0
        for digits, (begin, end) in zip(groups, pairwise(places), strict=True):
            total = total * 10**digits + int.from_bytes(raw[begin:end], "big")
        shown = str(total).zfill(scale + 1)
        point = len(shown) - scale
        fraction = f".{shown[point:]}" if scale else ""
        return f"{'-' if is_negative else ''}{shown[:point]}{fraction}", at + size

    return read


def _date(_: LogColumn) -> Reader:
    def read(data: bytes, at: int) -> tuple[str, int]:
        packed = int.from_bytes(data[at : at + 3], "little")
        return f"{packed >> 9:04d}-{packed >> 5 & 15:02d}-{packed & 31:02d}", at + 3

    return read


def _fraction(data: bytes, at: int, digits: int) -> str:
    size = _FRACTION_BYTES[digits]
    number = int.from_bytes(data[at : at + size], "big") * 10 ** (6 - 2 * size)
    return f".{number:06d}"[: digits + 1] if digits else ""


def _datetime(column: LogColumn) -> Reader:
    digits = column.digits
    size = 5 + _FRACTION_BYTES[digits]

    def read(data: bytes, at: int) -> tuple[str, int]:
        packed = int.from_bytes(data[at : at + 5], "big") & 0x7FFFFFFFFF
        month, day, clock = packed >> 22, packed >> 17 & 31, packed & 0x1FFFF
        shown = (
            f"{month // 13:04d}-{month % 13:02d}-{day:02d} "
            f"{clock >> 12:02d}:{clock >> 6 & 63:02d}:{clock & 63:02d}"
        )
        return shown + _fraction(data, at + 5, digits), at + size

    return read


def _timestamp(column: LogColumn) -> Reader:
    digits = column.digits
    size = 4 + _FRACTION_BYTES[digits]

    def read(data: bytes, at: int) -> tuple[str, int]:
        seconds = int.from_bytes(data[at : at + 4], "big")
        moment = _EPOCH + dt.timedelta(seconds=seconds)
        shown = moment.isoformat(" ") if any(data[at : at + size]) else _ZERO_TIME
        return shown + _fraction(data, at + 4, digits), at + size

    return read


def _time(column: LogColumn) -> Reader:
    """Seconds and their fraction are one number, which is moved up so that none is negative."""
    digits = column.digits
    size = 3 + _FRACTION_BYTES[digits]
    zero = 0x800000 << 8 * (size - 3)

    def read(data: bytes, at: int) -> tuple[str, int]:
        number = int.from_bytes(data[at : at + size], "big") - zero
        shown = abs(number).to_bytes(size, "big")
        clock = int.from_bytes(shown[:3], "big")
        sign = "-" if number < 0 else ""
        text = f"{sign}{clock >> 12 & 1023:02d}:{clock >> 6 & 63:02d}:{clock & 63:02d}"
        return text + _fraction(shown, 3, digits), at + size

    return read


_MAKERS: dict[int, Callable[[LogColumn], Reader]] = {
    INT24: _int24,
    FLOAT: _float,
    DOUBLE: _double,
    YEAR: _year,
    ENUM: _enum,
    SET: _set,
    BIT: _bits,
    DECIMAL: _decimal,
    DATE: _date,
    DATETIME: _datetime,
    TIMESTAMP: _timestamp,
    TIME: _time,
}
