"""Dates and times as databases print them (DateStyle ISO, UTC), as numbers and as ISO 8601.

PostgreSQL's reach from 4713 BC to 294276 AD and know infinity, Python's do not: numbers are
counted here, by the proleptic Gregorian calendar.
"""

DATE_INFINITY, DATE_MINUS_INFINITY = -2147472692, -2147472691
"""What PostgreSQL's limits become as days since 1970 in 32 bits, as Debezium writes them."""
INFINITY_US, MINUS_INFINITY_US = 9223372036825200000, -9223372036832400000
"""What PostgreSQL's JDBC driver has in the place of infinite times."""
DAY_US = 86_400_000_000


def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; the year before 1 is 0."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def civil_of(days: int) -> tuple[int, int, int]:
    """Year, month and day of such days."""
    days += 719_468
    era = days // 146_097
    day_of_era = days - era * 146_097
    of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    of_year = day_of_era - (365 * of_era + of_era // 4 - of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def date_days(text: str) -> int:
    """Days of `2024-02-29`, `0044-03-15 BC` or an infinity."""
    if text == "infinity":
        return DATE_INFINITY
    if text == "-infinity":
        return DATE_MINUS_INFINITY
    shown = text.removesuffix(" BC")
    year, month, day = map(int, shown.split("-"))
    return days_of(1 - year if shown != text else year, month, day)


def clock_us(text: str) -> int:
    """Microseconds of `23:59:59.123456`; `24:00:00` is a day. Seconds may be missing.

    MariaDB's times are spans: they may be negative, and longer than a day.
    """
    if text[0] == "-":
        return -clock_us(text[1:])
    clock, _, fraction = text.partition(".")
    hours, minutes, *seconds = map(int, clock.split(":"))
    whole = hours * 3600 + minutes * 60 + sum(seconds)
    return whole * 1_000_000 + int(fraction.ljust(6, "0") if fraction else 0)


def timestamp_us(text: str) -> int:
    """Microseconds since 1970 of `2024-02-29 12:34:56.123456`, maybe with a zone, or BC."""
    if text == "infinity":
        return INFINITY_US
    if text == "-infinity":
        return MINUS_INFINITY_US
    shown = text.removesuffix(" BC")
    day, _, clock = shown.partition(" ")
    clock, shift_us = _zone_parted(clock)
    days = date_days(day if shown == text else f"{day} BC")
    return days * DAY_US + (clock_us(clock) if clock else 0) - shift_us


def zoned_clock_us(text: str) -> int:
    """Microseconds in UTC of `12:00:00.5+02`, within one day."""
    clock, shift_us = _zone_parted(text)
    return (clock_us(clock) - shift_us) % DAY_US


def _zone_parted(text: str) -> tuple[str, int]:
    """A clock's text, and how much its zone is ahead of UTC."""
    at = max(text.rfind("+"), text.rfind("-"))
    if at < 0:
        return text, 0
    hours, *rest = text[at + 1 :].split(":")
    seconds = int(hours) * 3600
    for unit, part in zip((60, 1), rest, strict=False):
        seconds += unit * int(part)
    return text[:at], seconds * (1_000_000 if text[at] == "+" else -1_000_000)


def iso_date(days: int) -> str:
    """As Java's LocalDate prints it: a sign before 0000 and after 9999."""
    year, month, day = civil_of(days)
    shown = f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    return f"{'+' if year > 9999 else ''}{shown}-{month:02d}-{day:02d}"


def iso_clock(micros: int, digits: int | None = None) -> str:
    """A time of day, with so many digits after the seconds, or as many as it needs."""
    seconds, fraction = divmod(micros % DAY_US, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    shown = f"{fraction:06d}"
    shown = shown.rstrip("0") if digits is None else shown[:digits]
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{'.' if shown else ''}{shown}"


def iso_timestamp(micros: int, digits: int | None = None) -> str:
    """A day and a time."""
    days, clock = divmod(micros, DAY_US)
    return f"{iso_date(days)}T{iso_clock(clock, digits)}"
