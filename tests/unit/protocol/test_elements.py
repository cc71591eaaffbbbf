"""Counting the elements of messages, as far as it matters."""

from moldau.protocol.elements import has_more_elements
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)


def names(count: int) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name="t") for _ in range(count)])


def test_elements_of_a_list_count() -> None:
    assert not has_more_elements(names(10), 10)
    assert has_more_elements(names(11), 10)


def test_elements_of_lists_within_lists_count() -> None:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0, 1, 2]) for _ in range(2)]
    group = OffsetFetchRequestGroup(group_id="g", topics=topics)
    request = OffsetFetchRequest(groups=[group], group_id="", topics=[])
    assert not has_more_elements(request, 1 + 2 + 6)
    assert has_more_elements(request, 1 + 2 + 5)


def test_what_is_null_or_has_no_lists_has_no_elements() -> None:
    assert not has_more_elements(MetadataRequest(topics=None), 0)
    assert not has_more_elements(ApiVersionsRequest(), 0)
