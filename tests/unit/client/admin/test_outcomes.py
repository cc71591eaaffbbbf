"""Results and errors, item by item."""

import pytest

from moldau.client.admin.outcomes import Outcomes
from moldau.errors import ErrorCode, KafkaError, TopicAlreadyExists

ERROR = KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, "t is there")
MIXED: Outcomes[str, int] = Outcomes({"good": 1, "bad": ERROR})


def test_looking_at_what_failed_raises_its_error() -> None:
    assert MIXED["good"] == 1
    with pytest.raises(TopicAlreadyExists, match="t is there"):
        MIXED["bad"]
    with pytest.raises(TopicAlreadyExists):
        dict(MIXED.items())


def test_whoever_wants_to_go_on_sees_both_sides() -> None:
    assert MIXED.errors == {"bad": ERROR}
    assert MIXED.succeeded == {"good": 1}
    assert list(MIXED) == ["good", "bad"]
    assert len(MIXED) == 2
    assert "t is there" in repr(MIXED)


def test_check_raises_if_anything_failed() -> None:
    with pytest.raises(TopicAlreadyExists):
        MIXED.check()
    fine = Outcomes({"good": 1})
    assert fine.check() is fine


def test_an_item_that_was_not_asked_for_is_no_failure_of_kafka() -> None:
    with pytest.raises(KeyError):
        MIXED["other"]
