"""Java's SimpleDateFormat, as far as its letters mean the same everywhere."""

import datetime as dt
import re

from moldau.connect.errors import ConfigError, DataError

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_DIGITS = {"M": 2, "d": 2, "H": 2, "h": 2, "m": 2, "s": 2, "S": 3}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_GROUP = {"y": "year", "d": "day", "H": "hour", "m": "minute", "s": "second"}


class DateFormat:
    """Formats and parses in UTC; letters that have no fixed meaning are refused."""

    def __init__(self, pattern: str) -> None:
        self._parts: list[tuple[str, int]] = []
        for found in _TOKEN.finditer(pattern):
            letter = found.group(2)
            if letter is None:
                quoted = found.group(1)
                text = found.group() if quoted is None else (quoted.replace("''", "'") or "'")
                self._parts.append((text, 0))
            elif letter in "yMdHhmsSXZaE":
                self._parts.append((letter, len(found.group())))
            else:
                raise ConfigError(
                    f"TimestampConverter requires a SimpleDateFormat-compatible pattern for string "
                    f"timestamps: {pattern}: {letter} is not supported"
                )

    def format(self, moment: dt.datetime) -> str:
        """A moment as text."""
        moment = moment.astimezone(dt.UTC)
        return "".join(
            text if not count else _shown(moment, text, count) for text, count in self._parts
        )

    def parse(self, text: str) -> dt.datetime:
        """The moment of a text; DataError if it is not in this format."""
        expression = "".join(
            re.escape(part) if not count else _expected(part, count) for part, count in self._parts
        )
        found = re.fullmatch(expression, text.strip())
        if found is None:
            raise DataError(f"Could not parse timestamp: value ({text}) does not match pattern")
        return _moment(found.groupdict())


def _shown(moment: dt.datetime, letter: str, count: int) -> str:
    match letter:
        case "y":
            return f"{moment.year % 100:02d}" if count == 2 else f"{moment.year:0{count}d}"
        case "M" if count >= 3:
            return _MONTHS[moment.month - 1] if count == 3 else moment.strftime("%B")
        case "X":
            return "Z"
        case "Z":
            return "+0000"
        case "a":
            return "AM" if moment.hour < 12 else "PM"
        case "E":
            return moment.strftime("%a" if count < 4 else "%A")
    number = {
        "M": moment.month,
        "d": moment.day,
        "H": moment.hour,
        "h": (moment.hour + 11) % 12 + 1,
        "m": moment.minute,
        "s": moment.second,
        "S": moment.microsecond // 1000,
    }[letter]
    return f"{number:0{count}d}"


def _expected(letter: str, count: int) -> str:
    match letter:
        case "M" if count >= 3:
            return r"(?P<month_name>[A-Za-z]{3})[a-z]*"
        case "M":
            return r"(?P<month>\d{1,2})"
        case "X" | "Z":
            return r"(?P<zone>Z|[+-]\d\d:?\d\d|[+-]\d\d)"
        case "a":
            return r"(?P<half>AM|PM)"
        case "E":
            return r"[A-Za-z]+"
        case "h":
            return r"(?P<hour>\d{1,2})"
        case "S":
            return r"(?P<ms>\d{1,3})"
        case "y":
            return r"(?P<year>\d+)"
    return rf"(?P<{_GROUP[letter]}>\d{{1,{_DIGITS[letter]}}})"


def _moment(found: dict[str, str | None]) -> dt.datetime:
    numbers = {name: int(found.get(name) or 0) for name in ("hour", "minute", "second", "ms")}
    month = int(found.get("month") or 1)
    if found.get("month_name"):
        month = _MONTHS.index(str(found["month_name"]).title()) + 1
    hour = numbers["hour"]
    if found.get("half"):
        hour = hour % 12 + (12 if found["half"] == "PM" else 0)
    zone = found.get("zone") or "Z"
    try:
        moment = dt.datetime(
            int(found.get("year") or 1970), month, int(found.get("day") or 1), hour,
            numbers["minute"], numbers["second"], numbers["ms"] * 1000, tzinfo=dt.UTC,
        )  # fmt: skip
    except ValueError as error:
        raise DataError(f"Could not parse timestamp: {error}") from error
    if zone == "Z":
        return moment
    digits = zone[1:].replace(":", "").ljust(4, "0")
    shift = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return moment - shift if zone[0] == "+" else moment + shift
