"""Messages for settings that do not exist."""

from moldau.config.suggestion import nearest, unknown
from moldau.errors import ErrorCode

_KNOWN = ("retention.ms", "retention.bytes", "segment.ms")


def test_a_slip_is_corrected() -> None:
    assert nearest("retenton.ms", _KNOWN) == "retention.ms"


def test_a_name_that_is_nothing_like_the_known_ones_is_not_corrected() -> None:
    assert nearest("colour", _KNOWN) == ""
    assert str(unknown("topic", "colour", _KNOWN)) == "Unknown topic config name: colour"


def test_the_message_asks_for_the_nearest_name() -> None:
    error = unknown("topic", "segment.mss", _KNOWN)
    assert error.code is ErrorCode.INVALID_CONFIG
    assert str(error).endswith("did you mean segment.ms?")
