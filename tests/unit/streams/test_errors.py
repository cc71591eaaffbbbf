"""A policy is complete, or it is refused."""

import pytest

from moldau.streams.errors import FAILING, ErrorPolicy, OnError


def test_a_topic_alone_says_enough() -> None:
    assert ErrorPolicy.of(None, "bad") == ErrorPolicy("dead-letter", "bad")
    assert ErrorPolicy.of("continue", None) == ErrorPolicy("continue")
    assert ErrorPolicy.of(None, None) is None
    assert ErrorPolicy("fail") == FAILING


@pytest.mark.parametrize(
    ("on_error", "topic"), [("dead-letter", None), ("continue", "bad"), ("ignore", None)]
)
def test_what_does_not_fit_is_refused(on_error: OnError, topic: str | None) -> None:
    with pytest.raises(ValueError, match="on_error"):
        ErrorPolicy(on_error, topic)
