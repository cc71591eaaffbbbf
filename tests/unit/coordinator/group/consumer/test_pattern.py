"""Patterns of topics."""

import pytest

from moldau.coordinator.group.consumer.pattern import TopicPattern
from moldau.errors import ErrorCode, KafkaError


def test_whole_names_are_matched() -> None:
    assert TopicPattern("t.*").matches("topic")
    assert not TopicPattern("t").matches("topic")


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(KafkaError) as caught:
        TopicPattern("(")
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
