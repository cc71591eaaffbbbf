"""Texts in which PostgreSQL prints values that have parts: arrays, hstore, intervals, points."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What the server takes for a space: others are part of an element, which has no quotes for them.
_SPACES = r"[ \t\n\v\f\r]*"
_ELEMENT = re.compile(
    rf'{_SPACES}(?:"((?:[^"\\]|\\.)*)"|([^",{{}}\\]*(?:\\.[^",{{}}\\]*)*)){_SPACES}', re.DOTALL
)
_PAIR = re.compile(
    r'\s*"((?:[^"\\]|\\.)*)"\s*=>\s*(?:NULL|"((?:[^"\\]|\\.)*)")\s*(?:,|$)', re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BOUNDS = re.compile(r"(?:\[-?\d+:-?\d+\])+=")
_INTERVAL_PART = re.compile(r"([+-]?\d+) (year|mon|day)s?")
_INTERVAL_CLOCK = re.compile(r"([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_UNITS = {"year": "years", "mon": "months", "day": "days"}


def array_elements(text: str) -> list[str | None]:
    """The elements of `{a,"b,c",NULL}`; ValueError where elements are arrays themselves."""
    bounds = _BOUNDS.match(text)
    if bounds is not None:
        text = text[bounds.end() :]
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError(f"{text[:80]!r} is no array")
    if text == "{}":
        return []
    return list(_elements(text))


def _elements(text: str) -> Iterator[str | None]:
    at, end = 1, len(text) - 1
    while True:
        if text[at] == "{":
            raise ValueError("an array of several dimensions has no counterpart in Connect")
        found = _ELEMENT.match(text, at, end)
        assert found is not None, "it matches nothing at least"
        quoted, plain = found.groups()
        if quoted is not None:
            yield _ESCAPE.sub(r"\1", quoted)
        elif plain.upper() == "NULL":
            yield None
        else:
            yield _ESCAPE.sub(r"\1", plain)
        at = found.end()
        if at == end:
            return
        if text[at] != ",":
            raise ValueError(f"{text[:80]!r} is no array")
        at += 1


def hstore_pairs(text: str) -> dict[str, str | None]:
    """The pairs of `"k"=>"v", "n"=>NULL`."""
    found: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise ValueError(f"{text[:80]!r} is no hstore")
        key, value = pair.groups()
        found[_ESCAPE.sub(r"\1", key)] = None if value is None else _ESCAPE.sub(r"\1", value)
        at = pair.end()
    return found


@dataclass(slots=True)
class IntervalParts:
    """A span of time as PostgreSQL keeps it: months and days are no fixed time."""

    years: int = 0
    months: int = 0
    days: int = 0
    time_us: int = 0

    def total_us(self) -> int:
        """With years of 365.25 days, and months of a twelfth of that, as Debezium counts."""
        days_of_months = (12 * self.years + self.months) * 487  # in sixteenths of a day
        return days_of_months * 86_400_000_000 // 16 + self.days * 86_400_000_000 + self.time_us

    def iso_text(self) -> str:
        """Every part, zero or not, as Debezium writes it."""
        sign = -1 if self.time_us < 0 else 1
        seconds, fraction = divmod(abs(self.time_us), 1_000_000)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        shown = f"{seconds}.{fraction:06d}".rstrip("0").rstrip(".")
        minus = "-" if sign < 0 and (seconds or fraction) else ""
        return (
            f"P{self.years}Y{self.months}M{self.days}D"
            f"T{sign * hours}H{sign * minutes}M{minus}{shown}S"
        )


def interval_parts(text: str) -> IntervalParts:
    """The parts of `1 year 2 mons -3 days 04:05:06.789` (IntervalStyle postgres)."""
    found = IntervalParts()
    at = 0
    for part in _INTERVAL_PART.finditer(text):
        setattr(found, _UNITS[part[2]], int(part[1]))
        at = part.end()
    rest = text[at:].strip()
    if rest:
        clock = _INTERVAL_CLOCK.fullmatch(rest)
        if clock is None:
            raise ValueError(f"{text!r} is no interval")
        sign, hours, minutes, seconds, fraction = clock.groups()
        total = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
        micros = total * 1_000_000 + int((fraction or "").ljust(6, "0"))
        found.time_us = -micros if sign == "-" else micros
    return found


def point_parts(text: str) -> tuple[float, float]:
    """The numbers of `(1.5,-2)`."""
    x, separator, y = text.strip("()").partition(",")
    if not separator:
        raise ValueError(f"{text!r} is no point")
    return float(x), float(y)


def bits_bytes(text: str) -> bytes:
    """The bits of `10110`, the last one first, in as few bytes as hold them."""
    number = int(text, 2) if text else 0
    return number.to_bytes((number.bit_length() + 7) // 8, "little")
