"""Questions about topics, in versions that create them and in versions that need not."""

import pytest

from moldau.client.connection.topic_inquiry import TopicInquiry
from moldau.errors import ErrorCode
from moldau.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic


def names(inquiry: TopicInquiry, version: int) -> list[str | None] | None:
    topics = inquiry.request(version).topics
    return None if topics is None else [each.name for each in topics]


def answer(*found: str) -> MetadataResponse:
    topics = [MetadataResponseTopic(error_code=0, name=name, partitions=[]) for name in found]
    return MetadataResponse(brokers=[], topics=topics)


@pytest.mark.parametrize(
    ("topics", "version", "expected"),
    [
        (["a"], 12, ["a"]),
        (["a"], 4, ["a"]),
        (["a"], 3, None),
        (["a"], 0, []),
        ([], 1, []),
        ([], 0, []),
        (None, 1, None),
        (None, 0, []),
    ],
)
def test_no_topic_is_named_that_would_be_created(
    topics: list[str] | None, version: int, expected: list[str] | None
) -> None:
    assert names(TopicInquiry(topics), version) == expected
    assert TopicInquiry(topics).request(version).allow_auto_topic_creation == (version < 4)


@pytest.mark.parametrize("version", [0, 3, 4, 12])
def test_whoever_wants_them_created_names_them(version: int) -> None:
    inquiry = TopicInquiry(["a"], creates=True)
    assert names(inquiry, version) == ["a"]
    assert inquiry.request(version).allow_auto_topic_creation


def test_an_answer_about_all_topics_is_narrowed_to_those_wanted() -> None:
    narrowed = TopicInquiry(["a", "typo"]).narrow(answer("a", "b"), 3)
    codes = {each.name: each.error_code for each in narrowed.topics}
    assert codes == {"a": 0, "typo": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert TopicInquiry([]).narrow(answer("a"), 0).topics == []


def test_an_answer_about_the_topics_wanted_stays_as_it_is() -> None:
    assert TopicInquiry(["a"]).narrow(answer("b"), 4) == answer("b")
    assert TopicInquiry(None).narrow(answer("a", "b"), 0) == answer("a", "b")
