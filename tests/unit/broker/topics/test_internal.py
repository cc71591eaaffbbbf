"""Which topics belong to the broker."""

from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE, is_internal


def test_only_the_coordinators_topics_are_internal() -> None:
    assert is_internal(CONSUMER_OFFSETS)
    assert is_internal(TRANSACTION_STATE)
    assert not is_internal("__mine")
