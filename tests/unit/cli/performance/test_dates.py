"""Dates in the patterns of Java's SimpleDateFormat; what is expected, Java printed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from moldau.cli.performance.dates import USUAL, check_pattern, format_date
from moldau.cli.terminal.failure import CommandFailed

MOMENT = datetime(2026, 3, 7, 15, 4, 5, 67_000, timezone(timedelta(hours=5, minutes=30), "IST"))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (USUAL, "2026-03-07 15:04:05:067"),
        ("yy/M/d h:m a", "26/3/7 3:4 PM"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-03-07T15:04:05.067+05:30"),
        ("EEE, d MMM yyyy HH:mm:ss Z", "Sat, 7 Mar 2026 15:04:05 +0530"),
        ("yyy yyyyy", "2026 02026"),
        ("EEEE MMMM y, DDD u", "Saturday March 2026, 066 6"),
        ("hh 'o''clock' '' X XX K k S", "03 o'clock ' +05 +0530 3 15 67"),
    ],
)
def test_a_moment_is_printed_as_java_prints_it(pattern: str, text: str) -> None:
    assert format_date(MOMENT, pattern) == text


def test_midnight_and_no_offset_have_names_of_their_own() -> None:
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    assert format_date(midnight, "h K k H X z") == "12 0 24 0 Z UTC"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("yyyy-jj", "Illegal pattern character 'j'"),
        ("XXXX", "invalid ISO 8601 format: length=4"),
        ("'T", "Unterminated quote"),
    ],
)
def test_a_pattern_that_means_nothing_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(CommandFailed, match=reason):
        check_pattern(pattern)
