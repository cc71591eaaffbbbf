"""Whose settings are meant."""

import pytest

from moldau.broker.settings.resources import broker_of, require_topic
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.image import ClusterImage, TopicImage


def test_a_broker_without_a_name_stands_for_all() -> None:
    assert broker_of("", 3) is None


def test_a_broker_answers_for_itself() -> None:
    assert broker_of("3", 3) == 3


@pytest.mark.parametrize("name", ["1" * 5000, "-" + "1" * 5000, "2", "-1", "x", "3.0"])
def test_other_brokers_are_refused(name: str) -> None:
    with pytest.raises(KafkaError) as refused:
        broker_of(name, 3)
    assert refused.value.code == ErrorCode.INVALID_REQUEST


def test_a_topic_has_to_be_there() -> None:
    image = ClusterImage(topics={"t": TopicImage("t", b"i" * 16, {})})
    require_topic("t", image)
    with pytest.raises(KafkaError) as refused:
        require_topic("u", image)
    assert refused.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
