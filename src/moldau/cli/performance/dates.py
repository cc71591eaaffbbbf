"""Dates in the patterns of Java's SimpleDateFormat."""

import re
from collections.abc import Callable
from datetime import datetime

from moldau.cli.terminal.failure import CommandFailed

USUAL = "yyyy-MM-dd HH:mm:ss:SSS"
# Text in quotes, two quotes for one, a letter again and again, or anything else.
_PART = re.compile(r"'(?P<quoted>(?:[^']|'')+)'|''|(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|.")
_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "d": lambda moment: moment.day,
    "D": lambda moment: moment.timetuple().tm_yday,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
    "S": lambda moment: moment.microsecond // 1000,
    "u": lambda moment: moment.isoweekday(),
}
_NAMES = {"a": "%p", "z": "%Z", "Z": "%z"}
_ABBREVIATED_MAX = 3
_ZONE_WIDTH_MAX = 3


def check_pattern(pattern: str) -> None:
    """End unless all letters of the pattern mean something."""
    format_date(datetime(2000, 1, 1).astimezone(), pattern)


def format_date(moment: datetime, pattern: str) -> str:
    """The moment as Java prints it."""
    return "".join(_part(moment, found) for found in _PART.finditer(pattern))


def _part(moment: datetime, found: re.Match[str]) -> str:
    if found["quoted"]:
        return found["quoted"].replace("''", "'")
    if not found["letters"]:
        if found[0] == "'":
            raise CommandFailed("Unterminated quote")
        return "'" if found[0] == "''" else found[0]
    letter, width = found["letter"], len(found["letters"])
    if letter in _NUMBERS:
        return f"{_NUMBERS[letter](moment):0{width}d}"
    if letter in _NAMES:
        return moment.strftime(_NAMES[letter])
    if letter == "E":
        return moment.strftime("%a" if width <= _ABBREVIATED_MAX else "%A")
    return _date_or_zone(moment, letter, width)


def _date_or_zone(moment: datetime, letter: str, width: int) -> str:
    if letter == "y":
        return f"{moment.year % 100:02d}" if width == len("yy") else f"{moment.year:0{width}d}"
    if letter == "M":
        if width < _ABBREVIATED_MAX:
            return f"{moment.month:0{width}d}"
        return moment.strftime("%b" if width == _ABBREVIATED_MAX else "%B")
    if letter == "X":
        if width > _ZONE_WIDTH_MAX:
            raise CommandFailed(f"invalid ISO 8601 format: length={width}")
        offset = moment.strftime("%z")
        if offset == "+0000":
            return "Z"
        return (offset[:3], offset, f"{offset[:3]}:{offset[3:]}")[width - 1]
    raise CommandFailed(f"Illegal pattern character '{letter}'")
